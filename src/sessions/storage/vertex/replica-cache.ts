import type { Replica } from './replica.js';

const MOST_SESSIONS = 256;
const MOST_BYTES = 64 * 1024 * 1024;

interface Entry {
  readonly incarnation: string;
  readonly replica: Replica;
}

/** The logs of the sessions that were used last. */
export class ReplicaCache {
  readonly #entries = new Map<string, Entry>();

  get(name: string, incarnation: string): Replica | undefined {
    const entry = this.#entries.get(name);
    if (entry?.incarnation !== incarnation) return undefined;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry.replica;
  }

  put(name: string, incarnation: string, replica: Replica): void {
    this.#entries.delete(name);
    this.#entries.set(name, { incarnation, replica });
    let bytes = 0;
    for (const entry of this.#entries.values()) bytes += entry.replica.bytes;
    for (const [oldest, entry] of this.#entries) {
      if (oldest === name || (bytes <= MOST_BYTES && this.#entries.size <= MOST_SESSIONS)) return;
      bytes -= entry.replica.bytes;
      this.#entries.delete(oldest);
    }
  }

  remove(name: string): void {
    this.#entries.delete(name);
  }

  clear(): void {
    this.#entries.clear();
  }
}
