import { InvalidInputError } from '../errors/errors.js';
import { RESERVED } from './reserved-words.js';

/** The size of id columns and keys in every store. */
export const MAX_ID_BYTES = 191;

/** Identifies a user; user ids are unique within an app. */
export interface UserKey {
  readonly appName: string;
  readonly userId: string;
}

/** Identifies a session; session ids are unique within a user. */
export interface SessionKey extends UserKey {
  readonly sessionId: string;
}

/** The owner of shared state: a user of an app or, without `userId`, the app. */
export interface StateOwner {
  readonly appName: string;
  readonly userId?: string | undefined;
}

/**
 * The scope of the owner's state.
 * @example scopeOfOwner({ appName: 'shop' }); // 'app'
 */
export function scopeOfOwner({ userId }: StateOwner): 'user' | 'app' {
  return userId === undefined ? 'app' : 'user';
}

/** The owner alone, without the other fields of what names it. */
export function stateOwnerOf({ appName, userId }: StateOwner): StateOwner {
  return userId === undefined ? { appName } : { appName, userId };
}

/**
 * Refuses invalid ids, and names the field that has it. All other characters are legal; code that builds keys encodes them.
 *
 * @example assertId(threadId, 'configurable.thread_id');
 */
export function assertId(value: unknown, name: string): asserts value is string {
  const problem = idProblem(value);
  if (problem) throw new InvalidInputError(problem, name);
}

/** Picks the three ids from a request or a record. */
export function sessionKeyOf({ appName, userId, sessionId }: SessionKey): SessionKey {
  return { appName, userId, sessionId };
}

/**
 * The three ids of a request, without its other fields. Refuses invalid ones.
 *
 * @example const key = checkedSessionKey({ appName, userId, sessionId: threadId });
 */
export function checkedSessionKey(request: SessionKey): SessionKey {
  const key = sessionKeyOf(request);
  assertId(key.appName, 'appName');
  assertId(key.userId, 'userId');
  assertId(key.sessionId, 'sessionId');
  return key;
}

export function assertStateOwner({ appName, userId }: StateOwner): void {
  assertId(appName, 'appName');
  if (userId !== undefined) assertId(userId, 'userId');
}

/**
 * A unique text for each session, for instance as the key of a map: ids contain no control characters.
 *
 * @example await queue.run(sessionNameOf(key), () => append(key, entries));
 */
export function sessionNameOf({ appName, userId, sessionId }: SessionKey): string {
  return `${appName}\u0000${userId}\u0000${sessionId}`;
}

/** Whether the id is missing and has to be generated. */
export function isBlank(id: unknown): boolean {
  return id === undefined || id === null || (typeof id === 'string' && id.trim() === '');
}

/** App and user as one path. The parts are encoded, so that users never share a path. */
export function saveKeyOf(appName: string, userId: string): string {
  if (latest.appName !== appName || latest.userId !== userId) {
    latest = { appName, userId, path: `${encodeURIComponent(appName)}/${encodeURIComponent(userId)}` };
  }
  return latest.path;
}

/** The sessions of a list are often those of one user. */
let latest: { readonly appName: string; readonly userId: string; readonly path: string } = {
  appName: '',
  userId: '',
  path: '/',
};

/** Without `Buffer`, since the browser client checks ids too. */
function isTooLong(id: string): boolean {
  // A UTF-16 unit has at most three bytes, so that short ids need no encoding.
  return id.length * 3 > MAX_ID_BYTES && new TextEncoder().encode(id).length > MAX_ID_BYTES;
}

/**
 * Whether the value can be the id of an app, a user, a session or an event.
 *
 * @example const sessionId = isId(threadId) ? threadId : hash('sha256', threadId);
 */
export function isId(value: unknown): value is string {
  return idProblem(value) === undefined;
}

/** Why a value is not a valid id, or `undefined`. */
export function idProblem(value: unknown): string | undefined {
  return nameProblem(value) ?? (value === '.' || value === '..' ? 'must not be "." or ".."' : undefined);
}

/** The same for a name, which is no part of a path. */
export function nameProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return `must be a string, not ${value === null ? 'null' : typeof value}`;
  if (value === '') return 'must not be empty';
  if (!value.isWellFormed()) return 'must not hold a lone surrogate';
  if (isTooLong(value)) return `must be at most ${MAX_ID_BYTES} UTF-8 bytes long`;
  if (/\p{Cc}/u.test(value)) return 'must not hold control characters';
  if (value.trim() !== value) return 'must not begin or end with white space';
  return undefined;
}

/** The id of the summary up to an event. Writers of the same summary use the same id. */
export function summaryIdOf(toSeq: number): string {
  return RESERVED.ids.summary + String(toSeq);
}

/**
 * Compares by UTF-8 bytes, as every store does. JavaScript's own order differs beyond U+FFFF.
 *
 * @example
 * names.sort(compareBytes);
 */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [x, y] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (x !== y) return inByteOrder(x) - inByteOrder(y);
  }
  return a.length - b.length;
}

/** Surrogates are parts of characters beyond U+FFFF, which come last. */
function inByteOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Generates the ids of sessions and events for which the caller gives none. */
export type IdGenerator = () => string;

export const randomId: IdGenerator = () => crypto.randomUUID();
