/** Told what was said, or that something may have been missed. */
export type Hear = (message?: string) => void;

/** Who hears what is said about which name. Names that nobody listens to take no room. */
export class Hearers {
  readonly #hearers = new Map<string, Set<Hear>>();

  get size(): number {
    return this.#hearers.size;
  }

  has(name: string): boolean {
    return this.#hearers.has(name);
  }

  names(): string[] {
    return [...this.#hearers.keys()];
  }

  /** Whether it is the first one of this name. */
  add(name: string, hear: Hear): boolean {
    const hearers = this.#hearers.get(name);
    if (hearers) hearers.add(hear);
    else this.#hearers.set(name, new Set([hear]));
    return hearers === undefined;
  }

  /** Whether it was the last one of this name. */
  remove(name: string, hear: Hear): boolean {
    const hearers = this.#hearers.get(name);
    if (!hearers?.delete(hear) || hearers.size > 0) return false;
    return this.#hearers.delete(name);
  }

  tell(name: string, message?: string): void {
    for (const hear of this.#hearers.get(name) ?? []) hear(message);
  }

  tellAll(): void {
    for (const name of this.names()) this.tell(name);
  }
}
