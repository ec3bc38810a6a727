/**
 * A map with a maximum size. When it is full, `set` removes the half that was set longest ago, all at once: to look for the oldest entry
 * each time would take longer the more entries were removed before it.
 *
 * @example const texts = new BoundedMap<string>(1_000_000, (text) => text.length);
 */
export class BoundedMap<Value> {
  /** What was set last, at most half of all. */
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #youngSize = 0;

  /** @param sizeOf of an entry. Default: each counts as one. */
  constructor(
    private readonly maxSize: number,
    private readonly sizeOf: (value: Value) => number = () => 1,
  ) {}

  get(name: string): Value | undefined {
    return this.#young.get(name) ?? this.#old.get(name);
  }

  has(name: string): boolean {
    return this.#young.has(name) || this.#old.has(name);
  }

  set(name: string, value: Value): void {
    this.delete(name);
    const size = this.sizeOf(value);
    if (this.#youngSize + size > this.maxSize / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngSize = 0;
    }
    this.#young.set(name, value);
    this.#youngSize += size;
  }

  delete(name: string): void {
    this.#old.delete(name);
    const young = this.#young.get(name);
    if (young === undefined) return;
    this.#young.delete(name);
    this.#youngSize -= this.sizeOf(young);
  }
}
