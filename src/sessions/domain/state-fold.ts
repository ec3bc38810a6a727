import { splitStateKey } from '../../state/scopes.js';
import { type StateChanges, filterChanges } from '../../state/state-changes.js';
import { canonicalJson } from './digest.js';
import type { LoggedEvent } from './event.js';

/**
 * Rebuilds a session's own state, event by event. Also follows what these events did to keys of shared scopes, which
 * other sessions write too.
 */
export class StateFold {
  readonly #own: Map<string, unknown>;
  readonly #shared: Map<string, unknown>;

  /**
   * @param state the session's own state before the first event
   * @param shared what earlier events did to shared scopes
   */
  constructor(state: Record<string, unknown>, shared: Record<string, unknown> = {}) {
    this.#own = new Map(Object.entries(state));
    this.#shared = new Map(Object.entries(shared));
  }

  add({ actions }: Pick<LoggedEvent, 'actions'>): void {
    const { stateDelta, stateRemovals } = storedChanges(actions);
    for (const [key, value] of Object.entries(stateDelta)) this.#scopeOf(key).set(key, value);
    for (const key of stateRemovals) this.#scopeOf(key).delete(key);
  }

  has(key: string): boolean {
    return this.#scopeOf(key).has(key);
  }

  get(key: string): unknown {
    return this.#scopeOf(key).get(key);
  }

  /** The session's own state. */
  toRecord(): Record<string, unknown> {
    return Object.fromEntries(this.#own);
  }

  /** The keys of shared scopes that the events set. */
  toShared(): Record<string, unknown> {
    return Object.fromEntries(this.#shared);
  }

  #scopeOf(key: string): Map<string, unknown> {
    return isOwnKey(key) ? this.#own : this.#shared;
  }
}

/** The state changes that a store applied. A summary does not reach shared scopes. */
export function storedChanges({ stateDelta, stateRemovals, compaction }: LoggedEvent['actions']): StateChanges {
  const changes = { stateDelta, stateRemovals: stateRemovals ?? [] };
  return compaction ? filterChanges(changes, isOwnKey) : changes;
}

/** Whether the key belongs to the session alone. */
export function isOwnKey(key: string): boolean {
  return splitStateKey(key).scope === 'session';
}

/** The changes that turn one state into another. Keys are sorted, so that equal differences give equal text. */
export function stateDifference(from: Record<string, unknown>, to: Record<string, unknown>): StateChanges {
  const isDifferent = ([key, value]: [string, unknown]): boolean =>
    !Object.hasOwn(from, key) || canonicalJson(from[key]) !== canonicalJson(value);
  return {
    stateDelta: Object.fromEntries(Object.entries(to).filter(isDifferent).sort(byName)),
    stateRemovals: Object.keys(from)
      .filter((key) => !Object.hasOwn(to, key))
      .sort(),
  };
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
