import { type StoredScope, splitStateKey } from '../../../state/scopes.js';
import { type StateChanges, filterChanges } from '../../../state/state-changes.js';
import { canonicalJson } from '../values/canonical-json.js';
import type { LoggedEvent } from '../event/event.js';
import { entryBytes } from '../stored/state-size.js';

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

  /** The size of all that it holds. */
  countBytes(): number {
    let bytes = 0;
    for (const values of [this.#own, this.#shared]) {
      for (const [key, value] of values) bytes += entryBytes(key, JSON.stringify(value));
    }
    return bytes;
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
