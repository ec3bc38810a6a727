/** What is known by names, up to so many: of more, those that were set longest ago are forgotten. */
export class Remembered<Value> {
  readonly #values = new Map<string, Value>();

  constructor(private readonly most: number) {}

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
    if (this.#values.size > this.most && oldest !== undefined) this.#values.delete(oldest);
  }

  delete(name: string): void {
    this.#values.delete(name);
  }
}
