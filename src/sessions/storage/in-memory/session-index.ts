import type { SessionKey, UserKey } from '../../domain/ids.js';
import { indexChanges, indexEntries } from '../../domain/metadata-entries.js';
import type { StoredPartial } from '../../domain/partial-event.js';
import type { SessionRecord } from '../../domain/session-record.js';
import type { ListRequest, StoredCheckpoint } from '../session-storage.js';
import type { EventLog } from './event-log.js';
import { changingPlacesOf, type ListedPage, placesOf, SessionLists } from './session-lists.js';
import type { SharedWrites } from './shared-writes.js';
import type { ModelSums } from './usage-sums.js';

export interface StoredEntry {
  /** Only the index changes it. */
  readonly record: SessionRecord;
  readonly metadata: string;
  baseState: string;
  readonly state: Map<string, string>;
  /** What its events gave to keys of shared scopes. Unknown if the session began with a log. */
  readonly sharedWrites: SharedWrites | undefined;
  readonly log: EventLog;
  /** In ascending order. */
  checkpoints: StoredCheckpoint[];
  /** By number, if it ever had any. */
  partials?: StoredPartial[];
  /** Tokens of the session; undefined until an event reports some. */
  usage?: ModelSums;
}

type IndexedEntry = { -readonly [Field in keyof StoredEntry]: StoredEntry[Field] };

/** The sessions of a user. */
interface UserSessions {
  readonly byId: Map<string, IndexedEntry>;
  readonly lists: SessionLists<IndexedEntry>;
}

interface AppSessions {
  readonly users: Map<string, UserSessions>;
  readonly lists: SessionLists<IndexedEntry>;
}

/** All sessions: app, then user, then id; and their lists. */
export class SessionIndex {
  readonly #apps = new Map<string, AppSessions>();

  get({ appName, userId, sessionId }: SessionKey): StoredEntry | undefined {
    return this.#apps.get(appName)?.users.get(userId)?.byId.get(sessionId);
  }

  /** Adds a session that is not there. */
  put(entry: StoredEntry): void {
    const { appName, userId, sessionId } = entry.record;
    const app = this.#apps.get(appName) ?? { users: new Map<string, UserSessions>(), lists: new SessionLists() };
    const user = app.users.get(userId) ?? { byId: new Map<string, IndexedEntry>(), lists: new SessionLists() };
    this.#apps.set(appName, app);
    app.users.set(userId, user);
    user.byId.set(sessionId, entry);
    const places = placesOf<IndexedEntry>(entry);
    for (const lists of [app.lists, user.lists]) lists.add(entry, places);
  }

  /** Changes the record of a session that is there, and its metadata. */
  change(given: StoredEntry, record: SessionRecord, metadata?: string): void {
    const before = given.record;
    const app = this.#apps.get(before.appName);
    const user = app?.users.get(before.userId);
    const entry = user?.byId.get(before.sessionId);
    if (!app || !user || !entry || entry !== given) return;
    const moves = record.lastUpdateTime !== before.lastUpdateTime || record.expiresAt !== before.expiresAt;
    const entries =
      metadata !== undefined && metadata !== entry.metadata
        ? indexChanges(indexEntries(entry.metadata), indexEntries(metadata))
        : undefined;
    entry.record = record;
    entry.metadata = metadata ?? entry.metadata;
    const places = moves ? changingPlacesOf(entry) : undefined;
    for (const lists of [app.lists, user.lists]) {
      if (places) {
        lists.removeChanging(before);
        lists.addChanging(entry, places);
      }
      if (entries) lists.changeEntries(entry, entries);
    }
  }

  /** Removes the session, and the user and the app with it if nothing is left of them. */
  remove({ appName, userId, sessionId }: SessionKey): void {
    const app = this.#apps.get(appName);
    const user = app?.users.get(userId);
    const entry = user?.byId.get(sessionId);
    if (!app || !user || !entry) return;
    for (const lists of [app.lists, user.lists]) lists.remove(entry);
    user.byId.delete(sessionId);
    if (user.byId.size > 0) return;
    app.users.delete(userId);
    if (app.users.size === 0) this.#apps.delete(appName);
  }

  page(request: ListRequest, now: number): ListedPage<StoredEntry> {
    const app = this.#apps.get(request.appName);
    const owner = request.userId === undefined ? app : app?.users.get(request.userId);
    return (owner?.lists ?? new SessionLists<IndexedEntry>()).page(request, now);
  }

  /** Removes expired sessions, and returns them. */
  purge(limit: number, now: number): StoredEntry[] {
    const expired: StoredEntry[] = [];
    for (const { lists } of this.#apps.values()) {
      for (const entry of lists.expired(now)) {
        if (expired.length >= limit) break;
        expired.push(entry);
      }
    }
    for (const { record } of expired) this.remove(record);
    return expired;
  }

  /** The sessions of a user, expired or not. */
  ofUser({ appName, userId }: UserKey): StoredEntry[] {
    return [...(this.#apps.get(appName)?.users.get(userId)?.byId.values() ?? [])];
  }

  appNames(): string[] {
    return [...this.#apps.keys()];
  }

  *all(): Generator<StoredEntry> {
    for (const { users } of this.#apps.values()) for (const { byId } of users.values()) yield* byId.values();
  }

  clear(): void {
    this.#apps.clear();
  }
}
