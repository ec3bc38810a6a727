import { Refusal } from './refusal.js';

/** State by key. Keys of a session have their prefixes, those of a shared bucket do not. */
export type StateMap = Map<string, unknown>;

export interface Changes {
  readonly set: readonly (readonly [key: string, value: unknown])[];
  readonly removed: readonly string[];
}

export type ModelScope = 'session' | 'user' | 'app' | 'temp';

export const NOTHING: Changes = { set: [], removed: [] };

type GivenChanges = { readonly stateDelta?: Record<string, unknown>; readonly stateRemovals?: readonly string[] };

/** Submitted changes, normalised. */
export function changesOf({ stateDelta = {}, stateRemovals = [] }: GivenChanges = {}): Changes {
  return storedChangesOf({ stateDelta: asJson(stateDelta) as Record<string, unknown>, stateRemovals });
}

/** Changes of a stored event, which are already normalised. */
export function storedChangesOf({ stateDelta = {}, stateRemovals = [] }: GivenChanges = {}): Changes {
  return { set: Object.entries(stateDelta), removed: [...new Set(stateRemovals)] };
}

export function isEmpty({ set, removed }: Changes): boolean {
  return set.length === 0 && removed.length === 0;
}

export function apply(state: StateMap, { set, removed }: Changes): void {
  for (const [key, value] of set) state.set(key, value);
  for (const key of removed) state.delete(key);
}

export function scopeOf(key: string): ModelScope {
  if (key.startsWith('user:')) return 'user';
  if (key.startsWith('app:')) return 'app';
  return key.startsWith('temp:') ? 'temp' : 'session';
}

export function only({ set, removed }: Changes, ...scopes: ModelScope[]): Changes {
  return {
    set: set.filter(([key]) => scopes.includes(scopeOf(key))),
    removed: removed.filter((key) => scopes.includes(scopeOf(key))),
  };
}

/** Keys for a shared bucket: with the prefix of its scope, or without a prefix. */
export function inScope({ set, removed }: Changes, scope: 'user' | 'app'): Changes {
  const prefixed = (key: string) => {
    if (scopeOf(key) === scope) return key;
    if (scopeOf(key) !== 'session') throw new Refusal('INVALID_INPUT');
    return `${scope}:${key}`;
  };
  const keys = set.map(([key]) => prefixed(key));
  if (new Set(keys).size < keys.length) throw new Refusal('INVALID_INPUT');
  return { set: set.map(([key, value]) => [prefixed(key), value]), removed: removed.map(prefixed) };
}

export function withoutPrefix({ set, removed }: Changes): Changes {
  return { set: set.map(([key, value]) => [bare(key), value]), removed: removed.map(bare) };
}

function bare(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

/** A value as a store returns it. */
export function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
