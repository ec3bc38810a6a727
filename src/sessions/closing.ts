/** The end of a service, for what would otherwise wait for ever. */
export class Closing {
  readonly #listeners = new Set<() => void>();
  #hasBegun = false;

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  begin(): void {
    this.#hasBegun = true;
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` when it begins, until what this returns is called. */
  onBegin(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
