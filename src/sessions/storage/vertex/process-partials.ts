import { isExpired } from '../../domain/expiry.js';
import { type SessionKey, sessionNameOf } from '../../domain/ids.js';
import { type EndedPartials, type StoredPartial, partialsLeft } from '../../domain/partial-event.js';
import type { SessionRecord } from '../../domain/session-record.js';
import type { PartialStore, PartialsRequest, StoredPartials } from '../partial-store.js';

/** Partial events in the memory of this process. */
export class ProcessPartials implements PartialStore {
  readonly #bySession = new Map<string, { readonly incarnation: string; partials: StoredPartial[] }>();

  /** @param recordOf the record of a live session, with its turn */
  constructor(
    private readonly recordOf: (key: SessionKey) => Promise<SessionRecord | undefined>,
    private readonly now: () => number,
  ) {}

  async read({ key, incarnation, after }: PartialsRequest): Promise<StoredPartials | undefined> {
    const record = await this.recordOf(key);
    if (record?.incarnation !== incarnation) return undefined;
    const now = this.now();
    const partials = this.#of(key, incarnation).filter(
      ({ number, expiresAt }) => number > after && !isExpired(expiresAt, now),
    );
    return { lastSeq: record.lastSeq, partials };
  }

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
    const others = this.#of(key, incarnation).filter(({ number }) => !numbers.has(number));
    const partials = [...others, ...added].toSorted((a, b) => a.number - b.number);
    this.#bySession.set(sessionNameOf(key), { incarnation, partials });
  }

  clear(): void {
    this.#bySession.clear();
  }

  #of(key: SessionKey, incarnation: string): readonly StoredPartial[] {
    const entry = this.#bySession.get(sessionNameOf(key));
    return entry?.incarnation === incarnation ? entry.partials : [];
  }
}
