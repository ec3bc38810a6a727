import { type StoredScope, joinStateKey, splitStateKey } from '../../../state/scopes.js';
import type { StateChanges } from '../../../state/state-changes.js';
import type { Commit, Removal, StoredEvent, Upsert } from './commit.js';
import { UnknownEncryptionKeyError } from '../errors/encryption-errors.js';
import { StoreUnavailableError } from '../errors/errors.js';
import type { Event, LoggedEvent } from '../event/event.js';
import type { StateOwner } from '../values/ids.js';
import { isPlainObject } from '../values/json-value.js';
import { KeptEvent } from './kept-event.js';
import { keyOfSealed } from './sealed-form.js';

/** Stored text is not what was stored. */
export class DamagedDataError extends StoreUnavailableError {
  constructor(what: string) {
    super(`The store holds ${what} that is damaged.`, false, { advice: 'Run agent-sessions verify.' });
    this.name = StoreUnavailableError.name;
  }
}

/**
 * Parses stored JSON text. Text that does not parse was damaged in the store. The parser's own message is not used,
 * since it quotes the text.
 */
export function storedJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const keyId = keyOfSealed(text);
    if (keyId !== undefined) throw new UnknownEncryptionKeyError(keyId, what);
    throw new DamagedDataError(what);
  }
}

/** Parses a stored event. Each call returns a new object. */
export function loggedEvent(stored: Pick<StoredEvent, 'payload' | 'seq'>): LoggedEvent {
  if (stored instanceof KeptEvent) return stored.toLogged();
  const { payload, seq } = stored;
  if (payload === null) throw new Error(`Event ${seq} was trimmed from the log`);
  const event = storedJson(payload, `an event (${seq})`);
  if (!isEvent(event)) throw new DamagedDataError(`an event (${seq})`);
  return Object.assign(event, { seq });
}

/**
 * Whether the event has no payload any more. Makes no text to find out.
 * @example const kept = events.filter((event) => !isTrimmed(event));
 */
export function isTrimmed(stored: Pick<StoredEvent, 'payload'>): boolean {
  return !(stored instanceof KeptEvent) && stored.payload === null;
}

/** Whether the parts that every event has are there. What they hold was checked before it was stored. */
function isEvent(value: unknown): value is Event {
  return isPlainObject(value) && isPlainObject(value.actions) && isPlainObject(value.actions.stateDelta);
}

/** Converts state changes to writes of stored scopes. */
export function stateWrites({ stateDelta, stateRemovals }: StateChanges): { upserts: Upsert[]; removals: Removal[] } {
  const upserts = Object.keys(stateDelta).map((key) => {
    const { scope, name } = storedName(key);
    return { scope, name, value: jsonText(stateDelta[key]) };
  });
  return { upserts, removals: stateRemovals.map(storedName) };
}

/** Most values are numbers that have passed the checks: JSON writes those as JavaScript does. */
function jsonText(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}

/** State keys with their prefixes and values as the members of a JSON object, without its braces. */
export function stateMembers(entries: Iterable<readonly [name: string, value: string]>, scope: StoredScope): string {
  let members = '';
  for (const [name, value] of entries) {
    members += `${members && ','}${JSON.stringify(joinStateKey(scope, name))}:${value}`;
  }
  return members;
}

/** Parses {@link stateMembers}. One parse for all of them, which also keeps `__proto__` an ordinary key. */
export function recordOfMembers(...members: readonly string[]): Record<string, unknown> {
  const text = members.filter(Boolean).join(',');
  return text === '' ? {} : (storedJson(`{${text}}`, 'state') as Record<string, unknown>);
}

/** Converts stored entries to a record. */
export function stateRecord(
  entries: Iterable<readonly [name: string, value: string]>,
  scope: StoredScope,
): Record<string, unknown> {
  return recordOfMembers(stateMembers(entries, scope));
}

function storedName(key: string): { scope: StoredScope; name: string } {
  const { scope, name } = splitStateKey(key);
  if (scope === 'temp') throw new Error('A temp: key must not reach a store');
  return { scope, name };
}

/** State keys to set and to remove. */
export interface StateWrites {
  readonly upserts: readonly Upsert[];
  readonly removals: readonly Removal[];
}

/**
 * The writes to one scope.
 *
 * @example
 * const toUser = writesOf('user', commit);
 * if (changesNothing(toUser)) renewWhereDue(); else write(toUser);
 */
export function writesOf(scope: StoredScope, { upserts, removals }: StateWrites): StateWrites {
  return {
    upserts: upserts.filter((upsert) => upsert.scope === scope),
    removals: removals.filter((removal) => removal.scope === scope),
  };
}

/**
 * Whether there is nothing to set or remove.
 *
 * @example if (changesNothing(commit)) return;
 */
export function changesNothing({ upserts, removals }: StateWrites): boolean {
  return upserts.length === 0 && removals.length === 0;
}

/** The parts of a commit that concern the state of users and apps. */
export type SharedPart = Pick<Commit, 'key' | 'expiry' | 'maxStateBytes' | 'upserts' | 'removals'>;

/** The users and apps to whose state a commit writes. */
export function scopesWritten(commit: SharedPart): StateOwner[] {
  if (!commit.expiry) return [];
  const { appName, userId } = commit.key;
  return [
    ...(changesNothing(writesOf('app', commit)) ? [] : [{ appName }]),
    ...(changesNothing(writesOf('user', commit)) ? [] : [{ appName, userId }]),
  ];
}
