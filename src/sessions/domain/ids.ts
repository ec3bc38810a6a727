import { InvalidInputError } from './errors.js';

/** Every provider's id columns and keys are made for this length. */
export const MAX_ID_BYTES = 191;

/** What names one user: ids are unique within an app. */
export interface UserKey {
  readonly appName: string;
  readonly userId: string;
}

/** What names one session: ids are unique within a user. */
export interface SessionKey extends UserKey {
  readonly sessionId: string;
}

/** Whose shared state: of a user in an app, or, without `userId`, of the whole app. */
export interface StateOwner {
  readonly appName: string;
  readonly userId?: string | undefined;
}

/** Refuses what is no id. Every character that is not refused here is legal, and encoded by whoever builds a key. */
export function assertId(value: unknown, name: string): asserts value is string {
  const problem = idProblem(value);
  if (problem) throw new InvalidInputError(problem, name);
}

/** The three ids alone, out of whatever else a request or a record says. */
export function sessionKeyOf({ appName, userId, sessionId }: SessionKey): SessionKey {
  return { appName, userId, sessionId };
}

/** The same, of a request: what is no id is refused. */
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

/** One text for each session: no id holds a control character. */
export function sessionNameOf({ appName, userId, sessionId }: SessionKey): string {
  return [appName, userId, sessionId].join('\u0000');
}

/** Whether an id was left out, so that one is to be generated. */
export function isBlank(id: unknown): boolean {
  return id === undefined || id === null || (typeof id === 'string' && id.trim() === '');
}

/** App and user as one path; the parts are encoded, so that no two users share it. */
export function saveKeyOf(appName: string, userId: string): string {
  return `${encodeURIComponent(appName)}/${encodeURIComponent(userId)}`;
}

/** The client checks ids as well, and browsers have no `Buffer`. */
function isTooLong(id: string): boolean {
  // A letter has three bytes at most, so that hardly any id has to be looked at.
  return id.length * 3 > MAX_ID_BYTES && new TextEncoder().encode(id).length > MAX_ID_BYTES;
}

/** What keeps a value from being an id, or `undefined`. */
export function idProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return `must be a string, not ${value === null ? 'null' : typeof value}`;
  if (value === '') return 'must not be empty';
  if (!value.isWellFormed()) return 'must not hold a lone surrogate';
  if (isTooLong(value)) return `must be at most ${MAX_ID_BYTES} UTF-8 bytes long`;
  if (/\p{Cc}/u.test(value)) return 'must not hold control characters';
  if (value.trim() !== value) return 'must not begin or end with white space';
  if (value === '.' || value === '..') return 'must not be "." or ".."';
  return undefined;
}
