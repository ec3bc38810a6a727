/** Changes of a state: keys to set, and keys to remove. */
export interface StateChanges {
  readonly stateDelta: Record<string, unknown>;
  readonly stateRemovals: readonly string[];
}

export function hasChanges(changes: StateChanges): boolean {
  return changes.stateRemovals.length > 0 || Object.keys(changes.stateDelta).length > 0;
}

/** The part of `changes` whose keys pass `keep`. Safe for a key named `__proto__`. */
export function filterChanges(changes: StateChanges, keep: (key: string) => boolean): StateChanges {
  const keys = [...Object.keys(changes.stateDelta), ...changes.stateRemovals];
  const kept = keys.filter(keep).length;
  if (kept === keys.length) return changes;
  if (kept === 0) return { stateDelta: {}, stateRemovals: [] };
  return {
    stateDelta: Object.fromEntries(Object.entries(changes.stateDelta).filter(([key]) => keep(key))),
    stateRemovals: changes.stateRemovals.filter(keep),
  };
}

/** Changes in a row as one change: the last change of each key counts. */
export function foldChanges(all: readonly StateChanges[]): StateChanges {
  const [only] = all;
  if (only && all.length === 1) return only;
  const changes = new Map<string, { readonly value: unknown } | 'removed'>();
  for (const { stateDelta, stateRemovals } of all) {
    for (const key of stateRemovals) changes.set(key, 'removed');
    for (const [key, value] of Object.entries(stateDelta)) changes.set(key, { value });
  }
  const set: [string, unknown][] = [];
  const stateRemovals: string[] = [];
  for (const [key, change] of changes) {
    if (change === 'removed') stateRemovals.push(key);
    else set.push([key, change.value]);
  }
  return { stateDelta: Object.fromEntries(set), stateRemovals };
}
