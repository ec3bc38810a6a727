import { assertWholeNumber } from '../sessions/domain/values/input-checks.js';
import { assertFieldNames, requireRequest } from '../sessions/domain/values/request-fields.js';
import type { EventPage } from '../sessions/operations/list-events.js';
import type { SessionService } from '../sessions/session.service.js';
import { DEFAULT_AROUND, type EventsAroundRequest, SEARCH_LIMITS } from './found-events.js';

const FIELDS: Readonly<Record<keyof EventsAroundRequest, true>> = {
  appName: true,
  userId: true,
  sessionId: true,
  seq: true,
  before: true,
  after: true,
};

/** Reads what was said around a hit, from the log. */
export async function eventsAround(
  sessions: Pick<SessionService, 'listEvents'>,
  request: EventsAroundRequest,
): Promise<EventPage> {
  assertFieldNames(requireRequest(request), FIELDS);
  const { appName, userId, sessionId, seq, before = DEFAULT_AROUND, after = DEFAULT_AROUND } = request;
  assertWholeNumber(seq, { path: 'seq', from: 1, to: Number.MAX_SAFE_INTEGER - 1 });
  assertWholeNumber(before, { path: 'before', from: 0, to: SEARCH_LIMITS.around });
  assertWholeNumber(after, { path: 'after', from: 0, to: SEARCH_LIMITS.around });
  // Whoever asks has seen the event.
  const range = { appName, userId, sessionId, afterSeq: Math.max(0, seq - before - 1), minSeq: seq };
  const beforeSeq = Math.min(seq + after + 1, Number.MAX_SAFE_INTEGER);
  // There is no page after it: whoever wants more asks for the events around another one.
  const { nextCursor: rest, ...page } = await sessions.listEvents({ ...range, beforeSeq, limit: before + 1 + after });
  const hasEvent = (page.events.at(-1)?.seq ?? 0) >= seq;
  if (rest === undefined || hasEvent) return page;
  // Large events before it filled the page: those next to it are wanted.
  const { nextCursor: _earlier, ...near } = await sessions.listEvents({
    ...range,
    beforeSeq: seq + 1,
    order: 'desc',
    limit: before + 1,
  });
  return { ...near, events: near.events.toReversed() };
}
