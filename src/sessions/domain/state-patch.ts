import type { LoggedEvent } from './event.js';
import { isOwnKey, storedChanges } from './state-fold.js';

/** An operation of JSON Patch (RFC 6902) on the state of a session. */
export type StateOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** The path of a state key: a JSON pointer (RFC 6901). */
export function pathOfKey(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/**
 * Turns events into operations on the state that they follow. Of the session's own keys it knows which exist. Shared
 * scopes have other writers, so operations on their keys apply whether a key exists or not: `add` sets a member in any
 * case, and before a `remove` it makes sure that there is one.
 */
export class StatePatches {
  readonly #ownKeys: Set<string>;

  /** @param ownKeys keys of the session's own state before the first event */
  constructor(ownKeys: Iterable<string>) {
    this.#ownKeys = new Set(ownKeys);
  }

  /** The operations of the next event. */
  patchOf({ actions }: Pick<LoggedEvent, 'actions'>): StateOperation[] {
    const { stateDelta, stateRemovals } = storedChanges(actions);
    const sets = Object.entries(stateDelta).map(([key, value]) => this.#set(key, value));
    return [...sets, ...stateRemovals.flatMap((key) => this.#removal(key))];
  }

  /** The operations after a gap: everything in the session's own state is set again. */
  patchTo(state: Record<string, unknown>): StateOperation[] {
    const gone = [...this.#ownKeys].filter((key) => !Object.hasOwn(state, key));
    const sets = Object.entries(state).map(([key, value]) => this.#set(key, value));
    return [...sets, ...gone.flatMap((key) => this.#removal(key))];
  }

  #set(key: string, value: unknown): StateOperation {
    const path = pathOfKey(key);
    if (!isOwnKey(key)) return { op: 'add', path, value };
    const op = this.#ownKeys.has(key) ? 'replace' : 'add';
    this.#ownKeys.add(key);
    return { op, path, value };
  }

  #removal(key: string): StateOperation[] {
    const path = pathOfKey(key);
    const remove = { op: 'remove', path } as const;
    if (!isOwnKey(key)) return [{ op: 'add', path, value: null }, remove];
    return this.#ownKeys.delete(key) ? [remove] : [];
  }
}
