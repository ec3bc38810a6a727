export interface GraphqlProblem {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** What GraphQL told of an error, with the fields that the error had. */
export class RemoteError extends Error {
  readonly code?: string;
  readonly status?: number;

  constructor({ message, extensions }: GraphqlProblem) {
    super(message);
    Object.assign(this, extensions);
  }
}
