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
  return {
    stateDelta: Object.fromEntries(Object.entries(changes.stateDelta).filter(([key]) => keep(key))),
    stateRemovals: changes.stateRemovals.filter(keep),
  };
}
