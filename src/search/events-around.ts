import type { SessionKey } from '../sessions/domain/ids.js';
import { assertWholeNumber, requireRequest } from '../sessions/domain/input-checks.js';
import type { EventPage } from '../sessions/operations/list-events.js';
import type { SessionService } from '../sessions/session.service.js';

/** An event, and how many before and after it to read. */
export interface EventsAroundRequest extends SessionKey {
  readonly seq: number;
  /** At most 50. Default: 5. */
  readonly before?: number | undefined;
  /** At most 50. Default: 5. */
  readonly after?: number | undefined;
}

const MOST_AROUND = 50;
const DEFAULT_AROUND = 5;

/** Reads what was said around a hit, from the log. */
export async function eventsAround(
  sessions: Pick<SessionService, 'listEvents'>,
  request: EventsAroundRequest,
): Promise<EventPage> {
  const { appName, userId, sessionId, seq, before = DEFAULT_AROUND, after = DEFAULT_AROUND } = requireRequest(request);
  assertWholeNumber(seq, { path: 'seq', from: 1, to: Number.MAX_SAFE_INTEGER - 1 });
  assertWholeNumber(before, { path: 'before', from: 0, to: MOST_AROUND });
  assertWholeNumber(after, { path: 'after', from: 0, to: MOST_AROUND });
  return sessions.listEvents({
    appName,
    userId,
    sessionId,
    afterSeq: Math.max(0, seq - before - 1),
    beforeSeq: Math.min(seq + after + 1, Number.MAX_SAFE_INTEGER),
    limit: before + 1 + after,
  });
}
