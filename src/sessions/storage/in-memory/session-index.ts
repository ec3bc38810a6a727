import { isExpired } from '../../domain/expiry.js';
import type { SessionKey, StateOwner } from '../../domain/ids.js';
import type { SessionRecord } from '../../domain/session-record.js';
import { comparePositions, positionOf } from '../list-order.js';
import type { ListRequest, StoredCheckpoint } from '../session-storage.js';
import type { EventLog } from './event-log.js';

export interface StoredEntry {
  record: SessionRecord;
  baseState: string;
  metadata: string;
  readonly state: Map<string, string>;
  readonly log: EventLog;
  /** In ascending order. */
  checkpoints: StoredCheckpoint[];
}

/** All sessions: app, then user, then id. */
export class SessionIndex {
  readonly #apps = new Map<string, Map<string, Map<string, StoredEntry>>>();

  get({ appName, userId, sessionId }: SessionKey): StoredEntry | undefined {
    return this.#apps.get(appName)?.get(userId)?.get(sessionId);
  }

  put(entry: StoredEntry): void {
    const { appName, userId, sessionId } = entry.record;
    const users = this.#apps.get(appName) ?? new Map<string, Map<string, StoredEntry>>();
    const sessions = users.get(userId) ?? new Map<string, StoredEntry>();
    this.#apps.set(appName, users.set(userId, sessions.set(sessionId, entry)));
  }

  /** Removes the session, and the user and the app with it if nothing is left of them. */
  remove({ appName, userId, sessionId }: SessionKey): void {
    const users = this.#apps.get(appName);
    const sessions = users?.get(userId);
    if (!users || !sessions?.delete(sessionId) || sessions.size > 0) return;
    users.delete(userId);
    if (users.size === 0) this.#apps.delete(appName);
  }

  of({ appName, userId }: StateOwner): StoredEntry[] {
    const users = this.#apps.get(appName);
    const shelves =
      userId === undefined ? [...(users?.values() ?? [])] : [users?.get(userId) ?? new Map<string, StoredEntry>()];
    return shelves.flatMap((sessions) => [...sessions.values()]);
  }

  /** Removes expired sessions, and returns them. */
  purge(limit: number, now: number): StoredEntry[] {
    const expired: StoredEntry[] = [];
    for (const entry of this.all()) {
      if (expired.length >= limit) break;
      if (isExpired(entry.record.expiresAt, now)) expired.push(entry);
    }
    for (const { record } of expired) this.remove(record);
    return expired;
  }

  appNames(): string[] {
    return [...this.#apps.keys()];
  }

  *all(): Generator<StoredEntry> {
    for (const users of this.#apps.values()) for (const sessions of users.values()) yield* sessions.values();
  }

  clear(): void {
    this.#apps.clear();
  }
}

/** The requested page of `entries`. */
export function pageOf<Entry extends { readonly record: SessionRecord }>(
  entries: readonly Entry[],
  request: ListRequest,
): Entry[] {
  const { limit, after, offset = 0 } = request;
  return entries
    .map((entry) => ({ entry, position: positionOf(entry.record, request) }))
    .filter(({ position }) => !after || comparePositions(position, after, request) > 0)
    .toSorted((a, b) => comparePositions(a.position, b.position, request))
    .slice(offset, offset + limit)
    .map(({ entry }) => entry);
}
