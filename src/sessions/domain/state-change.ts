import { type StoredScope, splitStateKey } from '../../state/scopes.js';
import { canonicalJson } from './digest.js';
import type { LoggedEvent } from './event.js';
import { type StateFold, storedChanges } from './state-fold.js';

/**
 * What an event did to a state key. `before` is missing if there was no value, and `after` if the event removed the key;
 * `null` is a value.
 */
export interface StateKeyChange {
  /** The event. */
  readonly seq: number;
  readonly eventId: string;
  /** With its prefix. */
  readonly key: string;
  readonly scope: StoredScope;
  /**
   * In scope `session`, the value before the event. In shared scopes, the value that the last earlier event of this
   * session gave, since writes of other sessions are not in the log.
   */
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * The changes by an event. Leaves out writes that left a key of the session's own state as it was.
 *
 * @param state before the event
 */
export function changesBy({ seq, id, actions }: LoggedEvent, state: StateFold): StateKeyChange[] {
  const { stateDelta, stateRemovals } = storedChanges(actions);
  const place = (key: string): StateKeyChange => {
    const scope = splitStateKey(key).scope as StoredScope;
    return { seq, eventId: id, key, scope, ...(state.has(key) && { before: state.get(key) }) };
  };
  return [
    ...Object.entries(stateDelta).map(([key, after]) => ({ ...place(key), after })),
    ...stateRemovals.map(place),
  ].filter((change) => change.scope !== 'session' || hasDifference(change));
}

function hasDifference(change: StateKeyChange): boolean {
  const [had, has] = [Object.hasOwn(change, 'before'), Object.hasOwn(change, 'after')];
  return had !== has || (has && canonicalJson(change.before) !== canonicalJson(change.after));
}
