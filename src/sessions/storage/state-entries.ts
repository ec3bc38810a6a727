import { entriesOfText, type StateText } from '../domain/stored/state-text.js';
import { recordOfMembers, stateMembers } from '../domain/stored/stored-json.js';

/** State keys of one scope, without their prefix, and their values as JSON text. */
export type StateEntries = readonly (readonly [name: string, value: string])[];

/** A session's own state: key by key, or as one text. {@link ownEntries} has its keys. */
export type OwnState = StateEntries | StateText;

/**
 * The keys of a session's own state.
 *
 * @example const entries = ownEntries(read.state?.session);
 */
export function ownEntries(state: OwnState = []): StateEntries {
  return typeof state === 'string' ? entriesOfText(state) : state;
}

/** A session's own state as the members of a JSON object, without its braces. */
export function ownMembers(state: OwnState): string {
  return typeof state === 'string' ? state : stateMembers(state, 'session');
}

/** A session's own state as a record. */
export function ownRecord(state: OwnState = []): Record<string, unknown> {
  return recordOfMembers(ownMembers(state));
}

/** The state that a session shows, scope by scope. */
export interface StoredState {
  readonly session: OwnState;
  readonly user: StateEntries;
  readonly app: StateEntries;
}

/** The state of a user or an app. */
export interface SharedScope {
  readonly entries: StateEntries;
  /** Missing without entries. */
  readonly expiresAt?: number | undefined;
}
