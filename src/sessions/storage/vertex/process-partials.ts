import { type SessionKey, sessionNameOf } from '../../domain/values/ids.js';
import { type EndedPartials, type StoredPartial, partialsLeft } from '../../domain/stored/partial-event.js';

/** Partial events in the memory of this process. */
export class ProcessPartials {
  readonly #bySession = new Map<string, { readonly incarnation: string; partials: StoredPartial[] }>();

  /** Removes what a commit ends. */
  end(key: SessionKey, ended: EndedPartials | undefined): void {
    const entry = this.#bySession.get(sessionNameOf(key));
    if (!entry) return;
    entry.partials = partialsLeft(entry.partials, ended);
    if (entry.partials.length === 0) this.#bySession.delete(sessionNameOf(key));
  }

  put(key: SessionKey, incarnation: string, added: readonly StoredPartial[]): void {
    if (added.length === 0) return;
    const numbers = new Set(added.map(({ number }) => number));
    const others = this.of(key, incarnation).filter(({ number }) => !numbers.has(number));
    const partials = [...others, ...added].toSorted((a, b) => a.number - b.number);
    this.#bySession.set(sessionNameOf(key), { incarnation, partials });
  }

  clear(): void {
    this.#bySession.clear();
  }

  /** By number. */
  of(key: SessionKey, incarnation: string): readonly StoredPartial[] {
    const entry = this.#bySession.get(sessionNameOf(key));
    return entry?.incarnation === incarnation ? entry.partials : [];
  }
}
