/** Ends a connection over which nothing has come for so long while somebody waited. */
export class Silence {
  readonly #ended = new AbortController();

  constructor(private readonly limitMs: number) {}

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  async limit<Result>(waiting: Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => this.#ended.abort(), this.limitMs);
    try {
      return await waiting;
    } finally {
      clearTimeout(timer);
    }
  }
}
