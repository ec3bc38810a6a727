import { SessionNotFoundError } from '../../sessions/domain/errors/errors.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { groupOfInvocation } from '../../sessions/domain/event/event-group.js';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import type { EventPage } from '../../sessions/operations/list-events.js';
import type { SessionService } from '../../sessions/session.service.js';
import {
  type QueueEntry,
  inQueueOrder,
  invocationOfMessage,
  queueEntryOf,
  queuedIdOf,
  queuedIn,
} from '../turn/control-events.js';
import { type QueuePlace, toQueuePlace } from '../turn/queue-place.js';
import { queueWatchIn } from './queue-watch.js';
import { type LogReader, findEventOf } from '../turn/stored-invocation.js';

const PAGE = 100;

/**
 * The queued messages of these invocations, in the order of their turns. Those that messages of this process saw while they
 * waited are not read again.
 */
export async function readQueue(env: LogReader, key: SessionKey, queued: ReadonlySet<string>): Promise<QueuePlace[]> {
  const watch = queueWatchIn(env.sessions, key);
  const known = [...queued].flatMap((invocationId) => watch?.entryOf(invocationId) ?? []);
  const unknown = new Set(queued);
  for (const { invocationId } of known) unknown.delete(invocationId);
  return inQueueOrder([...known, ...(await findEntries(env, key, unknown)).map(toQueuePlace)]);
}

/** The message of an invocation, if it waits. */
export async function findWaiting(
  env: LogReader,
  key: SessionKey,
  invocationId: string,
): Promise<QueuePlace | undefined> {
  const session = await env.sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
  if (!session) throw new SessionNotFoundError(key.sessionId);
  if (!queuedIn(session).has(invocationId)) return undefined;
  return (await readQueue(env, key, new Set([invocationId])))[0];
}

/** What comes first of the invocations that their processes left to others. */
export async function findHandedOver(env: LogReader, key: SessionKey): Promise<QueuePlace | undefined> {
  const session = await env.sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
  const queue = session ? await readQueue(env, key, queuedIn(session)) : [];
  return queue.find(({ handedOver }) => handedOver !== undefined);
}

/** Most are among the newest events. Older ones are found by their invocation, so that the length of the log does not matter. */
async function findEntries(env: LogReader, key: SessionKey, queued: ReadonlySet<string>): Promise<QueueEntry[]> {
  if (queued.size === 0) return [];
  const newest = await env.sessions.listEvents({ ...key, order: 'desc', limit: PAGE });
  const entries = entriesIn(newest.events, queued);
  const isWhole = newest.nextCursor === undefined;
  const missing = new Set(isWhole ? [] : queued);
  for (const { invocationId } of entries) missing.delete(invocationId);
  for (const invocationId of missing) entries.push(...(await findQueued(env, key, invocationId, newest.lastSeq)));
  return entries;
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

/** One entry for each. A message that was handed over may have waited before, or may be sent again. */
function entriesIn(events: readonly LoggedEvent[], queued: ReadonlySet<string>): QueueEntry[] {
  const entries = new Map<string, QueueEntry>();
  for (const entry of events.map(queueEntryOf)) {
    if (!entry || !queued.has(entry.invocationId)) continue;
    if (entry.handedOver || !entries.has(entry.invocationId)) entries.set(entry.invocationId, entry);
  }
  return [...entries.values()];
}

/** Events that usually show a whole invocation. */
const FIRST_PAGE = 20;

/** The newest events, from the newest on, as far as one page reaches. */
function readNewest(sessions: SessionService, key: SessionKey): Promise<EventPage> {
  return sessions.listEvents({ ...key, order: 'desc', limit: 1_000 });
}

/** As many of the newest events, from the oldest on, as `isEnough` wants: at most those of {@link readNewest}. */
export async function readNewestUntil(
  sessions: SessionService,
  key: SessionKey,
  isEnough: (events: readonly LoggedEvent[]) => boolean,
): Promise<readonly LoggedEvent[]> {
  const { events } = await sessions.listEvents({ ...key, order: 'desc', limit: FIRST_PAGE });
  const newest = events.toReversed();
  if (newest[0] === undefined || newest[0].seq === 1 || isEnough(newest)) return newest;
  return (await readNewest(sessions, key)).events.toReversed();
}

/** The message of an invocation, if it is among the newest events. */
export async function findMessage(
  sessions: SessionService,
  key: SessionKey,
  invocationId: string,
): Promise<{ readonly message: LoggedEvent | undefined; readonly lastSeq: number }> {
  const { events, lastSeq } = await readNewest(sessions, key);
  return { message: events.find((event) => invocationOfMessage(event) === invocationId), lastSeq };
}
