import { isExpired } from '../../domain/values/expiry.js';
import { type SessionKey, sessionNameOf } from '../../domain/values/ids.js';
import type { SessionRecord } from '../../domain/stored/session-record.js';
import type { StoredTurn } from '../../domain/stored/turn.js';

const MOST_TURNS = 10_000;

/** The turns of this process, by session. */
export class ProcessTurns {
  readonly #turns = new Map<string, { readonly incarnation: string; readonly turn: StoredTurn }>();

  /** The record with the turn of its session. */
  withTurn(record: SessionRecord): SessionRecord {
    const held = this.#turns.get(sessionNameOf(record));
    return held?.incarnation === record.incarnation ? { ...record, turn: held.turn } : record;
  }

  remove(key: SessionKey): void {
    this.#turns.delete(sessionNameOf(key));
  }

  keep(record: SessionRecord, turn: StoredTurn, now: number): void {
    this.#turns.set(sessionNameOf(record), { incarnation: record.incarnation, turn });
    if (this.#turns.size <= MOST_TURNS) return;
    for (const [name, held] of this.#turns) if (isExpired(held.turn.expiresAt, now)) this.#turns.delete(name);
  }
}
