export interface GraphqlProblem {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** An error of a GraphQL response, with the fields of the original error. */
export class RemoteError extends Error {
  readonly code?: string;
  readonly status?: number;

  constructor({ message, extensions }: GraphqlProblem) {
    super(message);
    Object.assign(this, extensions);
  }
}
