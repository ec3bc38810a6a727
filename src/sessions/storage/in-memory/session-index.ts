import { type SessionKey, type StateOwner, type UserKey, sessionNameOf } from '../../domain/values/ids.js';
import type { StoredPartial } from '../../domain/stored/partial-event.js';
import type { SessionRecord } from '../../domain/stored/session-record.js';
import type { ListRequest, StoredCheckpoint } from '../session-storage.js';
import { ownerNameOf } from '../state-owners.js';
import type { EventLog } from './event-log.js';
import { type Listed, type ListedPage, SessionLists } from './owner-lists.js';
import type { ScopeState } from './scope-state.js';

/** Most sessions write to no shared scope. */
type SharedWrites = Partial<Record<'user' | 'app', ScopeState>>;

/** A session with all that belongs to it. */
export interface StoredEntry {
  /** Only the index changes it. */
  record: SessionRecord;
  /** See `SessionHead`. */
  stamp: number;
  metadata: string;
  baseState: string;
  readonly state: ScopeState;
  /** What its events gave to keys of shared scopes. Unknown if the session began with a log. */
  readonly sharedWrites: SharedWrites | undefined;
  readonly log: EventLog;
  /** In ascending order. */
  checkpoints: StoredCheckpoint[];
  /** By number, if it ever had any. */
  partials?: StoredPartial[];
  /** What lists know of it. */
  listed?: Listed | undefined;
}

/** All sessions, and their lists. */
export class SessionIndex {
  readonly #sessions = new Map<string, StoredEntry>();
  readonly #apps = new Map<string, SessionLists<StoredEntry>>();
  readonly #users = new Map<string, SessionLists<StoredEntry>>();
  /** Sessions that may have another place in lists. They move when somebody reads a list, since most writes come without. */
  readonly #changed = new Set<StoredEntry>();

  get(key: SessionKey): StoredEntry | undefined {
    return this.#sessions.get(sessionNameOf(key));
  }

  /** Adds a session that is not there. */
  put(entry: StoredEntry): void {
    this.#sessions.set(sessionNameOf(entry.record), entry);
    this.#changed.add(entry);
  }

  change(entry: StoredEntry, record: SessionRecord, metadata = entry.metadata): void {
    if (entry.record === record && entry.metadata === metadata) return;
    entry.record = record;
    entry.metadata = metadata;
    this.#changed.add(entry);
  }

  remove(entry: StoredEntry): void {
    this.#sessions.delete(sessionNameOf(entry.record));
    this.#changed.delete(entry);
    if (entry.listed) this.#move(entry, undefined);
  }

  page(request: ListRequest, now: number): ListedPage<StoredEntry> {
    return this.#listsOf(request).page(request, now);
  }

  /** Sessions that have expired. */
  expired(limit: number, now: number): StoredEntry[] {
    const expired: StoredEntry[] = [];
    for (const appName of this.appNames()) {
      for (const entry of this.#listsOf({ appName }).expired(now)) {
        if (expired.length >= limit) return expired;
        expired.push(entry);
      }
    }
    return expired;
  }

  /** The sessions of a user, expired or not. */
  ofUser(user: UserKey): StoredEntry[] {
    return this.#listsOf(user).all();
  }

  appNames(): string[] {
    this.#sort();
    return [...this.#apps.keys()];
  }

  all(): Iterable<StoredEntry> {
    return this.#sessions.values();
  }

  clear(): void {
    for (const part of [this.#sessions, this.#apps, this.#users, this.#changed]) part.clear();
  }

  #listsOf(owner: StateOwner): SessionLists<StoredEntry> {
    this.#sort();
    const lists = owner.userId === undefined ? this.#apps : this.#users;
    return lists.get(ownerNameOf(owner)) ?? new SessionLists();
  }

  #sort(): void {
    for (const entry of this.#changed) this.#move(entry, { record: entry.record, metadata: entry.metadata });
    this.#changed.clear();
  }

  #move(entry: StoredEntry, after: Listed | undefined): void {
    const { appName, userId } = entry.record;
    moveIn(this.#apps, ownerNameOf({ appName }), entry, after);
    moveIn(this.#users, ownerNameOf({ appName, userId }), entry, after);
    entry.listed = after;
  }
}

function moveIn(
  owners: Map<string, SessionLists<StoredEntry>>,
  name: string,
  entry: StoredEntry,
  after: Listed | undefined,
): void {
  const lists = owners.get(name) ?? new SessionLists();
  lists.move(entry, entry.listed, after);
  if (lists.size > 0) owners.set(name, lists);
  else owners.delete(name);
}
