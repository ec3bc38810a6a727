import { isDeepStrictEqual } from 'node:util';
import { readableEvent } from '../domain/stored/damaged-event.js';
import { isSummary } from '../domain/event/event-inspection.js';
import type { LoggedEvent } from '../domain/event/event.js';
import type { SeqPair } from '../domain/event/model-request.js';
import { stableUntil } from '../domain/event/request-difference.js';
import type { IncarnationReads } from './incarnation-reads.js';

/**
 * With which event the common beginning of two lists of events ends, by their ranges; 0 if there is none. A summary with one more part
 * begins with the one before, which a read of both shows.
 */
export async function commonBeginning(
  reads: IncarnationReads,
  before: readonly SeqPair[],
  after: readonly SeqPair[],
): Promise<number> {
  const [earlier, later] = [before[0]?.[0], after[0]?.[0]];
  const stable = stableUntil(before, after);
  if (stable > 0 || earlier === undefined || later === undefined || earlier >= later) return stable;
  const ranges = [earlier, later].map((seq) => ({ from: seq, to: seq }));
  const { events } = await reads.read({ window: { ranges, limit: ranges.length } });
  const [one, other] = [earlier, later].map((seq) => events.find((event) => event.seq === seq));
  return one?.payload && other?.payload && grewFrom(readableEvent(one), readableEvent(other)) ? earlier : 0;
}

/** Whether a summary is another one with more parts. */
function grewFrom(earlier: LoggedEvent, later: LoggedEvent): boolean {
  if (!isSummary(earlier) || !isSummary(later)) return false;
  const parts = earlier.content?.parts ?? [];
  return parts.length > 0 && isDeepStrictEqual(later.content?.parts?.slice(0, parts.length), parts);
}
