import { isExpired } from '../../domain/values/expiry.js';
import type { StoredPartial } from '../../domain/stored/partial-event.js';
import { firstIndex } from '../binary-search.js';
import type { StoredEntry } from './session-index.js';

/** The partial events of sessions. They are kept with their sessions. */
export class InMemoryPartials {
  /** Sessions that may have partial events. */
  readonly #entries = new Set<StoredEntry>();

  put(entry: StoredEntry, added: readonly StoredPartial[]): void {
    if (added.length === 0) return;
    const partials = (entry.partials ??= []);
    for (const partial of added) {
      const place = firstIndex(partials.length, (index) => (partials[index]?.number ?? 0) >= partial.number);
      partials.splice(place, partials[place]?.number === partial.number ? 1 : 0, partial);
    }
    this.#entries.add(entry);
  }

  forget(entry: StoredEntry): void {
    this.#entries.delete(entry);
  }

  purge(now: number): void {
    for (const entry of this.#entries) {
      entry.partials = entry.partials?.filter(({ expiresAt }) => !isExpired(expiresAt, now)) ?? [];
      if (entry.partials.length === 0) this.#entries.delete(entry);
    }
  }

  clear(): void {
    this.#entries.clear();
  }
}
