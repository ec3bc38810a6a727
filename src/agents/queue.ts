import type { SessionKey } from '../sessions/domain/ids.js';
import { groupOfInvocation } from '../sessions/domain/event-group.js';
import type { LoggedEvent } from '../sessions/domain/event.js';
import { isRewind } from '../sessions/domain/event-inspection.js';
import { type SeqRange, isInRanges } from '../sessions/domain/seq-ranges.js';
import type { EventPage } from '../sessions/operations/list-events.js';
import type { SessionService } from '../sessions/session.service.js';
import type { AgentEnvironment } from './agent-environment.js';
import { type QueueEntry, inQueueOrder, messageOf, queueEntryOf, queuedIdOf } from './control-events.js';

const PAGE = 100;

/** What reads a log. */
type LogReader = Pick<AgentEnvironment, 'sessions' | 'storage'>;

/**
 * The queued messages of these invocations, in the order of their turns. Most are among the newest events. Older ones are found
 * by their invocation, so that the length of the log does not matter.
 */
export async function readQueue(env: LogReader, key: SessionKey, queued: ReadonlySet<string>): Promise<QueueEntry[]> {
  if (queued.size === 0) return [];
  const newest = await env.sessions.listEvents({ ...key, order: 'desc', limit: PAGE });
  const entries = entriesIn(newest.events, queued);
  const isWhole = newest.nextCursor === undefined;
  const missing = new Set(isWhole ? [] : queued);
  for (const { invocationId } of entries) missing.delete(invocationId);
  for (const invocationId of missing) entries.push(...(await findQueued(env, key, invocationId, newest.lastSeq)));
  return inQueueOrder(entries);
}

/** Nothing if its event was trimmed with its history. */
async function findQueued(
  env: LogReader,
  key: SessionKey,
  invocationId: string,
  lastSeq: number,
): Promise<QueueEntry[]> {
  // The event and its invocation have the same id.
  const own = queuedIdOf(invocationId);
  const find = { group: groupOfInvocation(own), direction: 'previous', from: lastSeq } as const;
  const found = (await env.storage.read({ key, find }))?.found;
  if (found === undefined) {
    const event = await findEventOf(env, key, own, own);
    return entriesIn(event ? [event] : [], new Set([invocationId]));
  }
  if (found === 0) return [];
  const { events } = await env.sessions.listEvents({ ...key, afterSeq: found - 1, limit: 1 });
  return entriesIn(events, new Set([invocationId]));
}

function entriesIn(events: readonly LoggedEvent[], queued: ReadonlySet<string>): QueueEntry[] {
  return events.flatMap((event) => queueEntryOf(event) ?? []).filter(({ invocationId }) => queued.has(invocationId));
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
  { sessions, storage }: LogReader,
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
