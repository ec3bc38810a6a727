import { isExpired } from '../../domain/values/expiry.js';
import { compareBytes } from '../../domain/values/ids.js';
import { NOTHING_WAITS } from '../../domain/stored/session-record.js';
import type { ChangedSession, SessionMarks } from '../coordination.js';
import type { SessionIndex, StoredEntry } from './session-index.js';

/** The sessions with events that wait to be dispatched. */
export class InMemoryMarks implements SessionMarks {
  /** In the order in which they began to wait. */
  readonly #changed = new Set<StoredEntry>();

  /** @param now the time of an operation */
  constructor(
    private readonly sessions: SessionIndex,
    private readonly now: () => number,
  ) {}

  /** Call it after each write to a session. One that waits anew is the last. */
  noteChange(session: StoredEntry, waitedSince = NOTHING_WAITS): void {
    const { waitingSince } = session.record;
    if (waitingSince !== waitedSince) this.#changed.delete(session);
    if (waitingSince !== NOTHING_WAITS) this.#changed.add(session);
  }

  async apps(): Promise<string[]> {
    this.now();
    return this.sessions.appNames().toSorted(compareBytes);
  }

  async changed(limit: number): Promise<ChangedSession[]> {
    const now = this.now();
    const found: ChangedSession[] = [];
    for (const session of this.#changed) {
      if (found.length >= limit) break;
      if (isExpired(session.record.expiresAt, now)) this.#changed.delete(session);
      else found.push(session.record);
    }
    return found;
  }

  forget(session: StoredEntry): void {
    this.#changed.delete(session);
  }

  clear(): void {
    this.#changed.clear();
  }
}
