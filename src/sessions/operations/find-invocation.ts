import { InvalidInputError } from '../domain/errors/errors.js';
import { REWINDS, groupOfInvocation } from '../domain/event/event-group.js';
import { isAnchor, isSummary } from '../domain/event/event-inspection.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { type SeqRange, isInRanges } from '../domain/values/seq-ranges.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import { loggedEvent } from '../domain/stored/stored-json.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { EventFinder } from './event-finder.js';
import type { LogPoints } from './read-log.js';

/** The last event before an invocation: before its first event that is retained and not rewound. */
export async function placeBefore(
  invocationId: string,
  storage: SessionStorage,
  log: LogPoints,
  record: SessionRecord,
): Promise<number> {
  const { firstSeq, lastSeq } = record;
  const found = new EventFinder(storage, record);
  const group = groupOfInvocation(invocationId);
  let seq = await found.find({ group, direction: 'next', from: firstSeq });
  if (seq === 0) throw createInvocationError('no event that is kept belongs to it');
  const rewound = await rewoundRanges({ from: seq, to: lastSeq }, found, log);
  for (let range = rangeAt(seq, rewound); range && seq > 0; range = rangeAt(seq, rewound)) {
    seq = await found.find({ group, direction: 'next', from: range.to + 1 });
  }
  if (seq === 0 || seq > lastSeq) throw createInvocationError('all its events are rewound already');
  // Only a user message is certain to begin an invocation.
  if (seq === firstSeq && firstSeq > 1 && !isByUser(await eventAt(seq, log))) {
    throw createInvocationError(
      `its first events may have been trimmed with the history before ${firstSeq}; give toSeq instead, ` +
        `${firstSeq - 1} or more`,
    );
  }
  return seq - 1;
}

/** What is rewound after the last event, in reverse order. A rewind that was rewound itself has no effect. */
async function rewoundRanges({ from, to }: SeqRange, found: EventFinder, log: LogPoints): Promise<SeqRange[]> {
  const ranges: SeqRange[] = [];
  for (let next = to; next >= from;) {
    const seq = await found.find({ group: REWINDS, direction: 'previous', from: next });
    if (seq < from) break;
    next = (await eventAt(seq, log)).actions.rewind?.toSeq ?? seq - 1;
    ranges.push({ from: next + 1, to: seq });
  }
  return ranges;
}

function rangeAt(seq: number, ranges: readonly SeqRange[]): SeqRange | undefined {
  return ranges.find((range) => isInRanges(seq, [range]));
}

async function eventAt(seq: number, log: LogPoints): Promise<LoggedEvent> {
  for await (const stored of log.read({ from: seq, to: seq })) return loggedEvent(stored);
  throw new RangeError(`event ${seq} was read`);
}

function isByUser(event: LoggedEvent): boolean {
  return isAnchor(event) && !isSummary(event);
}

function createInvocationError(problem: string): InvalidInputError {
  return new InvalidInputError(problem, 'invocationId');
}
