import type { ScopeState } from './scope-state.js';
import type { StoredEntry } from './session-index.js';

/** What a store holds, for tests and diagnosis. */
export interface Snapshot {
  readonly sessions: number;
  readonly events: number;
  readonly stateEntries: number;
  readonly text: string;
}

/** @param others what is no part of a session or of shared state */
export function createSnapshot(
  entries: readonly StoredEntry[],
  scopes: readonly ScopeState[],
  others: readonly unknown[],
): Snapshot {
  const events = entries.flatMap(({ log }) => log.entries());
  const states = [...entries.map(({ state }) => state), ...scopes].flatMap((state) => state.entries());
  return {
    sessions: entries.length,
    events: events.length,
    stateEntries: states.length,
    text: JSON.stringify([
      entries.map(({ record, baseState, checkpoints, partials }) => ({ record, baseState, checkpoints, partials })),
      events,
      states,
      ...others,
    ]),
  };
}
