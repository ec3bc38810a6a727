import type { StateChanges } from '../../state/state-changes.js';
import { canonicalJson } from './digest.js';

/** What makes of the one state the other; the names in order, so that the same difference is the same text. */
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
