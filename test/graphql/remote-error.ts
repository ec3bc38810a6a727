export interface GraphqlProblem {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** An error of a GraphQL response, with the fields of the original error. */
export class RemoteError extends Error {
  readonly code?: string;
  readonly status?: number;

  /** @param names what the service calls a path that GraphQL has another name for */
  constructor({ message, extensions }: GraphqlProblem, names: Readonly<Record<string, string>> = {}) {
    super(message);
    Object.assign(this, extensions);
    const path = names[String(extensions.path)];
    if (path !== undefined) Object.assign(this, { path });
  }
}
