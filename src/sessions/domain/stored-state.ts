import { type StoredScope, joinStateKey, splitStateKey } from '../../state/scopes.js';
import type { StateChanges } from '../../state/state-changes.js';
import type { Removal, Upsert } from './commit.js';
import { storedJson } from './stored-json.js';

/** The writes, key by key, that make changes of state in the scopes that are stored. */
export function stateWrites({ stateDelta, stateRemovals }: StateChanges): { upserts: Upsert[]; removals: Removal[] } {
  return {
    upserts: Object.entries(stateDelta).map(([key, value]) => ({ ...storedName(key), value: JSON.stringify(value) })),
    removals: stateRemovals.map(storedName),
  };
}

/** A record of state out of stored entries. One parse for all, which also keeps a key named `__proto__` a key. */
export function stateRecord(
  entries: Iterable<readonly [name: string, value: string]>,
  scope: StoredScope,
): Record<string, unknown> {
  const members = [...entries].map(([name, value]) => `${JSON.stringify(joinStateKey(scope, name))}:${value}`);
  return storedJson(`{${members.join(',')}}`, 'state') as Record<string, unknown>;
}

function storedName(key: string): { scope: StoredScope; name: string } {
  const { scope, name } = splitStateKey(key);
  if (scope === 'temp') throw new Error('A temp: key must not reach a store');
  return { scope, name };
}
