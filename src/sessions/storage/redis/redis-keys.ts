import { REDIS_PREFIX } from '../../../config/store-rules.js';
import { InvalidInputError } from '../../domain/errors.js';
import type { SessionKey, StateOwner } from '../../domain/ids.js';

/** An id as a part of a key: ASCII, without what separates parts, and no two ids alike. */
export function encodeId(id: string): string {
  return encodeURIComponent(id).replaceAll('*', '%2A');
}

/** No encoded id holds `@`, so no app is in its way. */
const SLOT_OF_LEASES = '{@leases}';
const SLOT_OF_AGENDA = '{@agenda}';

/**
 * The names of all keys. What a user has lies in one slot of a cluster, `{app|user}`; what an app has, in
 * another one, `{app}`; all leases, in one of their own, and so the agenda.
 */
export class RedisKeys {
  constructor(private readonly prefix: string) {
    if (!REDIS_PREFIX.pattern.test(prefix))
      throw new InvalidInputError('must not hold braces, which choose the slot of a key', 'prefix');
  }

  /** All names of apps. */
  get apps(): string {
    return `${this.prefix}apps`;
  }

  /** The highest token that any lease ever had. */
  get lastLeaseToken(): string {
    return `${this.prefix}${SLOT_OF_LEASES}:last-token`;
  }

  lease(name: string): string {
    return `${this.prefix}${SLOT_OF_LEASES}:lease:${encodeId(name)}`;
  }

  /** What has to be looked at later. */
  get agenda(): string {
    return `${this.prefix}${SLOT_OF_AGENDA}:due`;
  }

  /** What the keys of a user begin with. */
  baseOfUser(appName: string, userId: string): string {
    return `${this.prefix}{${encodeId(appName)}|${encodeId(userId)}}:`;
  }

  /** What the keys of all users of an app begin with. */
  baseOfUsers(appName: string): string {
    return `${this.prefix}{${encodeId(appName)}`;
  }

  baseOfApp(appName: string): string {
    return `${this.prefix}{${encodeId(appName)}}:`;
  }

  /** The record of a session; also the channel that tells what happens to it. */
  recordOf({ appName, userId, sessionId }: SessionKey): string {
    return `${this.baseOfUser(appName, userId)}session:${encodeId(sessionId)}`;
  }

  /** What a session left to be done in another slot. */
  pendingOf({ appName, userId, sessionId }: SessionKey): string {
    return `${this.baseOfUser(appName, userId)}pending:${encodeId(sessionId)}`;
  }

  /** What a session is made of, and what of its user it has to do with. */
  ofSession(key: SessionKey): string[] {
    const { appName, userId, sessionId } = key;
    const base = this.baseOfUser(appName, userId);
    const id = encodeId(sessionId);
    return [
      this.recordOf(key),
      `${base}events:${id}`,
      `${base}ids:${id}`,
      `${base}anchors:${id}`,
      `${base}state:${id}`,
      this.pendingOf(key),
      this.stateOf({ appName, userId }),
      ...indexesUnder(base),
    ];
  }

  stateOf({ appName, userId }: StateOwner): string {
    return userId === undefined
      ? `${this.baseOfApp(appName)}app-state`
      : `${this.baseOfUser(appName, userId)}user-state`;
  }

  /** Sessions by update, by creation, and those that expire; of a user or of an app. */
  indexesOf({ appName, userId }: StateOwner): [byUpdate: string, byCreation: string, expiring: string] {
    return indexesUnder(userId === undefined ? this.baseOfApp(appName) : this.baseOfUser(appName, userId));
  }

  usersOf(appName: string): string {
    return `${this.baseOfApp(appName)}users`;
  }

  /** How far the pending writes of a session were applied. */
  applied(appName: string, incarnation: string): string {
    return `${this.baseOfApp(appName)}applied:${incarnation}`;
  }
}

function indexesUnder(base: string): [string, string, string] {
  return [`${base}by-update`, `${base}by-creation`, `${base}expiring`];
}
