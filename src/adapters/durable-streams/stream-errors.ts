/** A request that the protocol refuses. */
export class StreamRefusal extends Error {
  override readonly name = 'StreamRefusal';

  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
