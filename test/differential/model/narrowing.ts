import { type Entry, isSummary } from './entries.js';

export interface Narrowing {
  readonly numRecentEvents?: number | undefined;
  readonly afterSeq?: number | undefined;
  readonly afterTimestamp?: number | undefined;
}

export function isAfter({ seq, event }: Entry, { afterSeq = 0, afterTimestamp = 0 }: Narrowing): boolean {
  return seq > afterSeq && event.timestamp >= afterTimestamp;
}

/** A summary comes first in a view. */
export function placeOf(entry: Entry): number {
  return isSummary(entry) ? 0 : entry.seq;
}
