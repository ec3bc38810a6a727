import { type StoredScope, joinStateKey, splitStateKey } from '../../state/scopes.js';
import type { UncheckedWrite } from '../domain/write/write-description.js';

// Describe what operations write. Request bodies and field arguments have the same names.

type Input = Readonly<Record<string, unknown>>;

export const APPENDS_EVENT = ({ event }: Input): UncheckedWrite => ({ event: event ?? null });

/** The request holds several events. Describes them all, so that a rule that refuses one refuses all. */
export const APPENDS_EVENTS = ({ events }: Input): UncheckedWrite => ({ events: events ?? null });

export const CREATES = ({ state, metadata, turnsOnly }: Input): UncheckedWrite => ({
  stateDelta: state,
  metadata,
  controls: turnsOnly === true ? ['turnsOnly'] : [],
});

export const CHANGES_STATE = ({ stateDelta, stateRemovals }: Input): UncheckedWrite => ({ stateDelta, stateRemovals });

export const CHANGES_USER_STATE = (input: Input): UncheckedWrite => prefixed('user', input);

export const CHANGES_APP_STATE = (input: Input): UncheckedWrite => prefixed('app', input);

export const REWINDS = (): UncheckedWrite => ({ controls: ['rewind'] });

export const REDACTS = (): UncheckedWrite => ({ controls: ['redact'] });

export const FORKS = (): UncheckedWrite => ({ controls: ['fork'] });

/** Who holds the turn keeps other writers out. */
export const TAKES_TURN = (): UncheckedWrite => ({ controls: ['turn'] });

export const SUMMARISES = (): UncheckedWrite => ({ controls: ['summary'] });

/** Keys of shared state may omit their prefix. */
function prefixed(scope: StoredScope, { stateDelta, stateRemovals }: Input): UncheckedWrite {
  const isDelta = typeof stateDelta === 'object' && stateDelta !== null;
  const keys: unknown[] = [
    ...(isDelta ? Object.keys(stateDelta) : []),
    ...(Array.isArray(stateRemovals) ? stateRemovals : []),
  ];
  const named = keys.filter((key) => typeof key === 'string');
  return { stateRemovals: named.map((key) => (splitStateKey(key).scope === scope ? key : joinStateKey(scope, key))) };
}
