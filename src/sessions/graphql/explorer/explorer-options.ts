/** Where the explorer is, and whether in production too. */
export interface ExplorerOptions {
  /** Where the page is: `explorer` unless said otherwise. */
  readonly path?: string | undefined;
  /** Where GraphQL is: `/graphql` unless said otherwise. */
  readonly endpoint?: string | undefined;
  /** Also in production, where it is off otherwise. */
  readonly inProduction?: boolean | undefined;
}

export const EXPLORER_OPTIONS = Symbol('EXPLORER_OPTIONS');

/** What is left to be said once the defaults are in. */
export interface ExplorerSettings {
  readonly path: string;
  readonly endpoint: string;
}

/** None, where there is to be no explorer. */
export function explorerSettings(options: boolean | ExplorerOptions | undefined): ExplorerSettings | undefined {
  if (options === undefined || options === false) return undefined;
  const { path = 'explorer', endpoint = '/graphql', inProduction = false } = options === true ? {} : options;
  return process.env.NODE_ENV === 'production' && !inProduction ? undefined : { path, endpoint };
}
