import { type SessionKey, sessionNameOf } from '../../../domain/ids.js';
import { NOTHING_WAITS, type SessionRecord } from '../../../domain/session-record.js';
import type { StoredTurn } from '../../../domain/turn.js';

/** About 5 MB. */
const MAX_SESSIONS = 8_192;
const MAX_SCOPES = 8_192;

interface Known {
  readonly record: SessionRecord;
  /** Whether nobody else has probably changed the session. */
  readonly isTrusted: boolean;
}

/**
 * Remembers the records of sessions after their last write by this process, and the keys of scopes. They may be out of date:
 * a write that relies on them is written only if they are not.
 */
export class KnownSessions {
  readonly #sessions = new Map<string, Known>();
  readonly #scopes = new Map<string, number>();

  /** The record of a session, unless other processes write to it. */
  find(key: SessionKey): SessionRecord | undefined {
    const known = this.#sessions.get(sessionNameOf(key));
    return known?.isTrusted ? known.record : undefined;
  }

  /**
   * Remembers a record that was written. A session that another process has changed is trusted again when nobody else has
   * written, and nothing was dispatched to consumers, between two writes of this process.
   *
   * @param before the last event before the write; missing after a write that relied on the remembered record
   */
  remember(record: SessionRecord, before?: number): void {
    const name = sessionNameOf(record);
    const known = this.#sessions.get(name);
    this.#sessions.delete(name);
    const isTrusted = !known || before === undefined || isFollowedBy(known.record, record, before);
    this.#sessions.set(name, { record, isTrusted });
    dropOldest(this.#sessions, MAX_SESSIONS);
  }

  setTurn(key: SessionKey, turn: StoredTurn): void {
    const name = sessionNameOf(key);
    const known = this.#sessions.get(name);
    if (known) this.#sessions.set(name, { ...known, record: { ...known.record, turn } });
  }

  forget(key: SessionKey): void {
    this.#sessions.delete(sessionNameOf(key));
  }

  /** Keeps a record from being used, because the stored one may be another. */
  distrust(key: SessionKey): void {
    const name = sessionNameOf(key);
    const known = this.#sessions.get(name);
    if (known) this.#sessions.set(name, { ...known, isTrusted: false });
  }

  /** The key of a scope that does not expire. */
  scope(owner: string): number | undefined {
    return this.#scopes.get(owner);
  }

  rememberScopes(scopes: ReadonlyMap<string, number>): void {
    for (const [owner, pk] of scopes) this.#scopes.set(owner, pk);
    dropOldest(this.#scopes, MAX_SCOPES);
  }

  forgetScopes(owners: Iterable<string>): void {
    for (const owner of owners) this.#scopes.delete(owner);
  }
}

function isFollowedBy(known: SessionRecord, record: SessionRecord, before: number): boolean {
  const isUndispatched = known.waitingSince === NOTHING_WAITS || known.dispatchedSeq === record.dispatchedSeq;
  return known.lastSeq === before && isUndispatched;
}

function dropOldest(map: Map<string, unknown>, size: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= size) return;
    map.delete(oldest);
  }
}
