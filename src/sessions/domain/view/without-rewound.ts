import { isRewind } from '../event/event-inspection.js';
import type { LoggedEvent } from '../event/event.js';
import { type SeqRange, isInRanges } from '../values/seq-ranges.js';

/**
 * The events that no rewind among them took back, without the rewinds.
 *
 * @param events in the order of the log, up to its end
 *
 * @example const conversation = withoutRewound((await sessions.listEvents(key)).events);
 */
export function withoutRewound(events: readonly LoggedEvent[]): LoggedEvent[] {
  const rewound = rewoundBy(events.filter(isRewind));
  return events.filter(({ seq }) => !isInRanges(seq, rewound));
}

/** A rewind that was rewound itself has no effect. */
export function rewoundBy(rewinds: readonly LoggedEvent[]): SeqRange[] {
  const ranges: SeqRange[] = [];
  for (const { seq, actions } of rewinds.toReversed()) {
    if (!isInRanges(seq, ranges)) ranges.push({ from: (actions.rewind?.toSeq ?? seq) + 1, to: seq });
  }
  return ranges;
}
