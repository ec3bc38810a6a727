import type { SessionKey } from '../sessions/domain/ids.js';
import { groupOfInvocation } from '../sessions/domain/event-group.js';
import type { LoggedEvent } from '../sessions/domain/event.js';
import { isRewind } from '../sessions/domain/event-inspection.js';
import { type SeqRange, isInRanges } from '../sessions/domain/seq-ranges.js';
import type { EventPage } from '../sessions/operations/list-events.js';
import type { SessionService } from '../sessions/session.service.js';
import type { AgentEnvironment } from './agent-environment.js';
import { type QueueEntry, inQueueOrder, messageOf, queueEntryOf } from './control-events.js';

const PAGE = 100;

/**
 * The queued messages of these invocations, in the order of their turns. Reads the log backwards until all are found: they
 * are as old as the turn that they wait for.
 */
export async function readQueue(
  sessions: SessionService,
  key: SessionKey,
  queued: ReadonlySet<string>,
): Promise<QueueEntry[]> {
  const missing = new Set(queued);
  const entries: QueueEntry[] = [];
  for (let beforeSeq: number | undefined; missing.size > 0;) {
    const { events, firstSeq } = await sessions.listEvents({ ...key, order: 'desc', limit: PAGE, beforeSeq });
    for (const event of events) {
      const entry = queueEntryOf(event);
      if (entry && missing.delete(entry.invocationId)) entries.push(entry);
    }
    beforeSeq = events.at(-1)?.seq;
    // The rest was trimmed with its history.
    if (beforeSeq === undefined || beforeSeq <= firstSeq) break;
  }
  return inQueueOrder(entries);
}

/** The newest events, from the newest on, as far as one page reaches. */
export function readNewest(sessions: SessionService, key: SessionKey): Promise<EventPage> {
  return sessions.listEvents({ ...key, order: 'desc', limit: 1_000 });
}

/** The message of an invocation, if it is among the newest events. */
export async function findMessage(
  sessions: SessionService,
  key: SessionKey,
  invocationId: string,
): Promise<{ readonly message: LoggedEvent | undefined; readonly lastSeq: number }> {
  const { events, lastSeq } = await readNewest(sessions, key);
  return { message: events.find((event) => messageOf(event) === invocationId), lastSeq };
}

/** An event of an invocation. Reads the log from its first event on; if the store cannot find that, from the beginning. */
export async function findEventOf(
  { sessions, storage }: Pick<AgentEnvironment, 'sessions' | 'storage'>,
  key: SessionKey,
  invocationId: string,
  eventId: string,
): Promise<LoggedEvent | undefined> {
  const find = { group: groupOfInvocation(invocationId), direction: 'next', from: 1 } as const;
  const first = (await storage.read({ key, find }))?.found ?? 1;
  for (let afterSeq: number | undefined = first > 0 ? first - 1 : undefined; afterSeq !== undefined;) {
    const { events, nextCursor } = await sessions.listEvents({ ...key, afterSeq, limit: 1_000 });
    const found = events.find(({ id }) => id === eventId);
    if (found) return found;
    afterSeq = nextCursor === undefined ? undefined : events.at(-1)?.seq;
  }
  return undefined;
}

/** What the log has of an invocation. */
export interface StoredInvocation {
  readonly message: LoggedEvent | undefined;
  /** The events without messages. */
  readonly events: readonly LoggedEvent[];
  /** What was rewound since the message. */
  readonly rewound: readonly SeqRange[];
}

/** The message with this number, and what its invocation stored after it. */
export async function storedInvocation(
  sessions: SessionService,
  key: SessionKey,
  messageSeq: number,
): Promise<StoredInvocation> {
  const rewinds: LoggedEvent[] = [];
  let message: LoggedEvent | undefined;
  const found: LoggedEvent[] = [];
  for (let afterSeq: number | undefined = Math.max(0, messageSeq - 1); afterSeq !== undefined;) {
    const { events, nextCursor } = await sessions.listEvents({ ...key, afterSeq, limit: 1_000 });
    message ??= events.find(({ seq }) => seq === messageSeq);
    found.push(...events.filter(({ invocationId }) => invocationId === message?.invocationId));
    rewinds.push(...events.filter(isRewind));
    afterSeq = nextCursor === undefined ? undefined : events.at(-1)?.seq;
  }
  return {
    message,
    events: found.filter((event) => messageOf(event) === undefined),
    rewound: rewoundBy(rewinds),
  };
}

/** The events that no rewind among them took back. */
export function withoutRewound(events: readonly LoggedEvent[]): LoggedEvent[] {
  const rewound = rewoundBy(events.filter(isRewind));
  return events.filter(({ seq }) => !isInRanges(seq, rewound));
}

/** A rewind that was rewound itself has no effect. */
function rewoundBy(rewinds: readonly LoggedEvent[]): SeqRange[] {
  const ranges: SeqRange[] = [];
  for (const { seq, actions } of rewinds.toReversed()) {
    if (!isInRanges(seq, ranges)) ranges.push({ from: (actions.rewind?.toSeq ?? seq) + 1, to: seq });
  }
  return ranges;
}
