/** A map with a maximum size. When it is full, `set` removes the entry that was set longest ago. */
export class BoundedMap<Value> {
  readonly #values = new Map<string, Value>();

  constructor(private readonly maxSize: number) {}

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  set(name: string, value: Value): void {
    this.#values.delete(name);
    this.#values.set(name, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.maxSize && oldest !== undefined) this.#values.delete(oldest);
  }

  delete(name: string): void {
    this.#values.delete(name);
  }
}
