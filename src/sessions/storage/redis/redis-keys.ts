import { REDIS } from '../../../config/store-settings.js';
import { InvalidInputError } from '../../domain/errors/errors.js';
import type { SessionKey, StateOwner, UserKey } from '../../domain/values/ids.js';
import { groupOfSpace } from '../entry-store.js';
import { slotOfTag, tagOfSlot } from './cluster-slots.js';

/** Ids that are encoded as themselves. Most are, and a test is faster than to encode. */
const PLAIN_ID = /^[\w.~!'()-]*$/;

/** Encodes an id as a part of a key: ASCII without separators, and unique. */
export function encodeId(id: string): string {
  if (PLAIN_ID.test(id)) return id;
  return encodeURIComponent(id).replaceAll('*', '%2A');
}

/** A kind of key: its name in the documentation, and the type of its value. */
export interface KeyKind {
  readonly name: string;
  readonly type: 'hash' | 'zset' | 'string';
}

/** Names of keys without the prefix and ids. */
const TYPES: Readonly<Partial<Record<string, KeyKind['type']>>> = {
  apps: 'zset',
  '{app}:app-state': 'hash',
  '{app}:usage': 'hash',
  '{app}:by-update': 'zset',
  '{app}:by-creation': 'zset',
  '{app}:expiring': 'zset',
  '{app}:by-entry': 'zset',
  '{app}:users': 'zset',
  '{app}:applied': 'string',
  '{app|user}:user-state': 'hash',
  '{app|user}:usage': 'hash',
  '{app|user}:by-update': 'zset',
  '{app|user}:by-creation': 'zset',
  '{app|user}:expiring': 'zset',
  '{app|user}:by-entry': 'zset',
  '{app|user}:entries': 'hash',
  '{app|user}:session': 'hash',
  '{app|user}:anchors': 'zset',
  '{app|user}:state': 'hash',
  '{app|user}:pending': 'hash',
  '{app|user}:partials': 'zset',
  '{@entries}:entries': 'hash',
  '{@entries}:expiring': 'zset',
  '{@entries}:ranks': 'zset',
  '{@entries}:waiting': 'zset',
  '{@consumers}:changed': 'zset',
  '{@consumers}:slots': 'zset',
  '{@slot}:changed': 'zset',
};

/** No encoded id contains `@`, so no app shares these slots. */
const SLOT_OF_CONSUMERS = '{@consumers}';

/**
 * The names of all keys. On a cluster the keys of a user are in one slot, `{app|user}`, and the keys of an app in
 * another one, `{app}`. The marks for consumers have a slot of their own, and each group of entries has one.
 */
export class RedisKeys {
  constructor(private readonly prefix: string) {
    if (!REDIS.prefix.kind.fits(prefix)) {
      throw new InvalidInputError('must not contain braces, which choose the slot of a key', 'prefix');
    }
  }

  /** The kind of a key, if it is a key of the store. */
  kindOf(key: string): KeyKind | undefined {
    if (!key.startsWith(this.prefix)) return undefined;
    const name = key
      .slice(this.prefix.length)
      .replace(/^\{@\d+\}/, '{@slot}')
      .replace(/^\{@entries-\d+\}/, '{@entries}')
      .replace(/^\{[^@|}][^|}]*\|[^}]*\}/, '{app|user}')
      .replace(/^\{[^@|}][^|}]*\}/, '{app}')
      .replace(/^(\{[^}]*\}:[^:]*):.*$/, '$1');
    const type = TYPES[name];
    return type && { name, type };
  }

  /** The user of a key for the state or the usage of a user. */
  userOf(key: string): string | undefined {
    const user = /^\{[^|}]*\|([^}]*)\}:(?:user-state|usage)$/.exec(this.withoutPrefix(key))?.[1];
    return user === undefined ? undefined : decodeURIComponent(user);
  }

  /** The names of all apps. */
  get apps(): string {
    return `${this.prefix}apps`;
  }

  /** The entries of a group, and those that expire. */
  entries(group: number | undefined): [entries: string, expiring: string] {
    const base = this.#baseOfEntries(group);
    return [`${base}entries`, `${base}expiring`];
  }

  /** The keys of {@link entries} of the same slot as one of them. */
  entriesBeside(key: string): [entries: string, expiring: string] {
    const base = key.slice(0, key.lastIndexOf(':') + 1);
    return [`${base}entries`, `${base}expiring`];
  }

  /** The names of the entries of a space by rank, and by since; scripts make these keys, too. */
  ranksOf(space: string): [ranks: string, waiting: string] {
    const base = this.#baseOfEntries(groupOfSpace(space));
    return [`${base}ranks:${encodeId(space)}`, `${base}waiting:${encodeId(space)}`];
  }

  #baseOfEntries(group: number | undefined): string {
    return `${this.prefix}{@entries${group === undefined ? '' : `-${group}`}}:`;
  }

  /** On a single node: sessions with events that are not dispatched. */
  get changed(): string {
    return `${this.prefix}${SLOT_OF_CONSUMERS}:changed`;
  }

  /** On a cluster: slots that may have such sessions. */
  get changedSlots(): string {
    return `${this.prefix}${SLOT_OF_CONSUMERS}:slots`;
  }

  changedOfSlot(slot: number): string {
    return `${this.prefix}{${tagOfSlot(slot)}}:changed`;
  }

  /** The key for changed sessions of a user; on a cluster it is in their slot. */
  changedOf(owner: UserKey, isCluster: boolean): string {
    return isCluster ? this.changedOfSlot(this.slotOf(owner)) : this.changed;
  }

  /** A tag of the slot of a user's keys. */
  tagOf(owner: UserKey): string {
    return tagOfSlot(this.slotOf(owner));
  }

  /** The slot of a user's keys. */
  slotOf({ appName, userId }: UserKey): number {
    return slotOfTag(`${encodeId(appName)}|${encodeId(userId)}`);
  }

  withPrefix(name: string): string {
    return this.prefix + name;
  }

  withoutPrefix(key: string): string {
    return key.slice(this.prefix.length);
  }

  /** The prefix of a user's keys. */
  baseOfUser(appName: string, userId: string): string {
    return `${this.prefix}{${encodeId(appName)}|${encodeId(userId)}}:`;
  }

  /** The prefix that the keys of all users of an app share. */
  baseOfUsers(appName: string): string {
    return `${this.prefix}{${encodeId(appName)}`;
  }

  baseOfApp(appName: string): string {
    return `${this.prefix}{${encodeId(appName)}}:`;
  }

  /** The record of a session; also the name of its channel. */
  recordOf({ appName, userId, sessionId }: SessionKey): string {
    return `${this.baseOfUser(appName, userId)}session:${encodeId(sessionId)}`;
  }

  /** The key of a session's record, and the encoded ids in it, of whose lengths scripts make all other keys. */
  partsOf({ appName, userId, sessionId }: SessionKey): { recordKey: string; app: string; user: string; id: string } {
    const [app, user, id] = [encodeId(appName), encodeId(userId), encodeId(sessionId)];
    return { recordKey: `${this.prefix}{${app}|${user}}:session:${id}`, app, user, id };
  }

  /** On a cluster: the pending writes of a session to its app. */
  pendingOf({ appName, userId, sessionId }: SessionKey): string {
    return `${this.baseOfUser(appName, userId)}pending:${encodeId(sessionId)}`;
  }

  /** The session's own state. */
  ownStateOf({ appName, userId, sessionId }: SessionKey): string {
    return `${this.baseOfUser(appName, userId)}state:${encodeId(sessionId)}`;
  }

  /** The partial events of a session. */
  partialsOf({ appName, userId, sessionId }: SessionKey): string {
    return `${this.baseOfUser(appName, userId)}partials:${encodeId(sessionId)}`;
  }

  /** The five keys of a session, then the state and the indexes of its user. */
  ofSession(key: SessionKey): string[] {
    const { appName, userId, sessionId } = key;
    const base = this.baseOfUser(appName, userId);
    const id = encodeId(sessionId);
    return [
      this.recordOf(key),
      `${base}anchors:${id}`,
      `${base}state:${id}`,
      this.pendingOf(key),
      this.partialsOf(key),
      this.stateOf({ appName, userId }),
      ...this.indexesOf(key),
      this.entriesOf(key),
    ];
  }

  /** The entries of each session of a user in the index by entry. */
  entriesOf({ appName, userId }: UserKey): string {
    return `${this.baseOfUser(appName, userId)}entries`;
  }

  stateOf({ appName, userId }: StateOwner): string {
    return userId === undefined
      ? `${this.baseOfApp(appName)}app-state`
      : `${this.baseOfUser(appName, userId)}user-state`;
  }

  /** The tokens that a user or an app used. */
  usageOf({ appName, userId }: StateOwner): string {
    return `${userId === undefined ? this.baseOfApp(appName) : this.baseOfUser(appName, userId)}usage`;
  }

  /** The sessions of a user or an app: by update, by creation, the expiring ones, and by entry of metadata. */
  indexesOf({
    appName,
    userId,
  }: StateOwner): [byUpdate: string, byCreation: string, expiring: string, byEntry: string] {
    const base = userId === undefined ? this.baseOfApp(appName) : this.baseOfUser(appName, userId);
    return [`${base}by-update`, `${base}by-creation`, `${base}expiring`, `${base}by-entry`];
  }

  usersOf(appName: string): string {
    return `${this.baseOfApp(appName)}users`;
  }

  /** The number of the last pending write of a session that was applied. */
  applied(appName: string, incarnation: string): string {
    return `${this.baseOfApp(appName)}applied:${incarnation}`;
  }
}
