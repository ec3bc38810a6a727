import { splitStateKey } from '../../state/scopes.js';
import type { StateChanges } from '../../state/state-changes.js';
import { canonicalJson } from './digest.js';
import type { LoggedEvent } from './event.js';
import { storedJson } from './stored-json.js';

/** Rebuilds a session's own state, event by event, from its base state. */
export class StateFold {
  readonly #values: Map<string, unknown>;

  /** @param baseState the state before the first event, as JSON text */
  constructor(baseState: string) {
    this.#values = new Map(Object.entries(storedJson(baseState, 'state') as Record<string, unknown>));
  }

  add({ actions }: LoggedEvent): void {
    for (const [key, value] of Object.entries(actions.stateDelta)) {
      if (isOwn(key)) this.#values.set(key, value);
    }
    for (const key of actions.stateRemovals ?? []) this.#values.delete(key);
  }

  toRecord(): Record<string, unknown> {
    return Object.fromEntries(this.#values);
  }
}

function isOwn(key: string): boolean {
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
