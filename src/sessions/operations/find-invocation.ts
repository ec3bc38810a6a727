import { InvalidInputError, SessionNotFoundError } from '../domain/errors.js';
import { type GroupSearch, REWINDS, groupOf, groupOfInvocation } from '../domain/event-group.js';
import { isAnchor, isSummary } from '../domain/event-inspection.js';
import type { LoggedEvent } from '../domain/event.js';
import { sessionKeyOf } from '../domain/ids.js';
import { type SeqRange, isInRanges } from '../domain/seq-ranges.js';
import type { SessionRecord } from '../domain/session-record.js';
import { loggedEvent } from '../domain/stored-json.js';
import { EventGroups } from '../storage/event-groups.js';
import type { SessionStorage } from '../storage/session-storage.js';
import type { LogPoints } from './read-log.js';

/** The last event before an invocation: before its first event that is retained and not rewound. */
export async function placeBefore(
  invocationId: string,
  storage: SessionStorage,
  log: LogPoints,
  record: SessionRecord,
): Promise<number> {
  const { firstSeq, lastSeq } = record;
  const found = new EventFinder(storage, log, record);
  const group = groupOfInvocation(invocationId);
  let seq = await found.find({ group, direction: 'next', from: firstSeq });
  if (seq === 0) throw problemOf('no event that is kept belongs to it');
  const rewound = await rewoundRanges({ from: seq, to: lastSeq }, found, log);
  for (let range = rangeAt(seq, rewound); range && seq > 0; range = rangeAt(seq, rewound)) {
    seq = await found.find({ group, direction: 'next', from: range.to + 1 });
  }
  if (seq === 0 || seq > lastSeq) throw problemOf('all its events are rewound already');
  // Only a user message is certain to begin an invocation.
  if (seq === firstSeq && firstSeq > 1 && !isByUser(await eventAt(seq, log))) {
    throw problemOf(
      `its first events may have been trimmed with the history before ${firstSeq}; give toSeq instead, ` +
        `${firstSeq - 1} or more`,
    );
  }
  return seq - 1;
}

/** Asks the store for events of a group. If it cannot tell, this reads the log, once. */
class EventFinder {
  #groups: EventGroups | undefined;

  constructor(
    private readonly storage: SessionStorage,
    private readonly log: LogPoints,
    private readonly record: SessionRecord,
  ) {}

  async find(search: GroupSearch): Promise<number> {
    if (this.#groups) return this.#groups.find(search);
    const key = sessionKeyOf(this.record);
    const read = await this.storage.read({ key, find: search });
    if (read?.record.incarnation !== this.record.incarnation) throw new SessionNotFoundError(key.sessionId);
    if (read.found !== undefined) return read.found;
    this.#groups = await this.#readGroups();
    return this.#groups.find(search);
  }

  async #readGroups(): Promise<EventGroups> {
    const groups = new EventGroups();
    const { firstSeq: from, lastSeq: to } = this.record;
    for await (const stored of this.log.read({ from, to })) groups.add(groupOf(loggedEvent(stored)), stored.seq);
    return groups;
  }
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

function problemOf(problem: string): InvalidInputError {
  return new InvalidInputError(problem, 'invocationId');
}
