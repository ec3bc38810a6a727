/** Changes of a state: keys to set, and keys to remove. */
export interface StateChanges {
  readonly stateDelta: Record<string, unknown>;
  readonly stateRemovals: readonly string[];
}

/** No change. */
export const NO_CHANGES: StateChanges = Object.freeze({
  stateDelta: Object.freeze({}),
  stateRemovals: Object.freeze([]),
});

export function hasChanges(changes: StateChanges): boolean {
  return changes.stateRemovals.length > 0 || Object.keys(changes.stateDelta).length > 0;
}

/** The part of `changes` whose keys pass `keep`. Safe for a key named `__proto__`. */
export function filterChanges(changes: StateChanges, keep: (key: string) => boolean): StateChanges {
  const { stateDelta, stateRemovals } = changes;
  let kept = 0;
  const keys = Object.keys(stateDelta);
  for (const key of keys) if (keep(key)) kept++;
  for (const key of stateRemovals) if (keep(key)) kept++;
  if (kept === keys.length + stateRemovals.length) return changes;
  if (kept === 0) return NO_CHANGES;
  return {
    stateDelta: Object.fromEntries(Object.entries(stateDelta).filter(([key]) => keep(key))),
    stateRemovals: stateRemovals.filter(keep),
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
