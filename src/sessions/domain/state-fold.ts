import { splitStateKey } from '../../state/scopes.js';
import type { LoggedEvent } from './event.js';
import { storedJson } from './stored-json.js';

/** A session's own state, rebuilt event by event from what it was before the first one. */
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
