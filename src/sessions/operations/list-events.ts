import { LogCursor } from '../domain/cursors.js';
import { InvalidInputError, SessionNotFoundError } from '../domain/errors.js';
import type { LoggedEvent } from '../domain/event.js';
import { type SessionKey, checkedSessionKey } from '../domain/ids.js';
import { optionalCount } from '../domain/optional-count.js';
import { checkedLimit, checkedOrder } from '../domain/paging.js';
import type { SeqRange } from '../domain/seq-ranges.js';
import { loggedEvent } from '../domain/logged-event.js';
import type { SessionEnvironment } from '../session-environment.js';

/** Which part of a log to read. */
export interface ListEventsRequest extends SessionKey {
  /** Only events after this one. */
  readonly afterSeq?: number | undefined;
  /** Only events before this one. */
  readonly beforeSeq?: number | undefined;
  /** Events a page; 100 unless said otherwise, at most 1,000. */
  readonly limit?: number | undefined;
  /** Oldest first unless said otherwise. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** A page of a log. */
export interface EventPage {
  /** In the order that was asked for. */
  readonly events: LoggedEvent[];
  /** First event that is kept; events before it were trimmed. */
  readonly firstSeq: number;
  /** Last event of the log, whether it is on this page or not. */
  readonly lastSeq: number;
  /** For the next page; missing on the last one. */
  readonly nextCursor?: string;
}

/** A page of the whole log that is kept, rewound and summarised events included. */
export async function listEvents(env: SessionEnvironment, request: ListEventsRequest): Promise<EventPage> {
  const key = checkedSessionKey(request);
  const limit = checkedLimit(request.limit);
  const order = checkedOrder(request.order, 'asc');
  const cursor = LogCursor.parse(request.cursor);
  if (cursor && cursor.order !== order) throw new InvalidInputError('belongs to a list in the other order', 'cursor');
  const wanted = stretchOf(request, cursor);

  const read = await env.storage.read({
    key,
    window: { ranges: wanted ? [wanted] : [], limit, keep: order === 'asc' ? 'oldest' : 'newest' },
  });
  if (!read || (cursor && cursor.incarnation !== read.record.incarnation))
    throw new SessionNotFoundError(key.sessionId);

  const { firstSeq, lastSeq, incarnation } = read.record;
  const found = read.events.filter(({ seq }) => wanted && seq >= wanted.from && seq <= wanted.to);
  const page = order === 'asc' ? found.slice(0, limit) : found.slice(-limit).toReversed();
  const end = page.at(-1)?.seq;
  const isMore =
    wanted !== undefined &&
    end !== undefined &&
    (order === 'asc' ? end < Math.min(wanted.to, lastSeq) : end > Math.max(wanted.from, firstSeq));
  return {
    events: page.map(loggedEvent),
    firstSeq,
    lastSeq,
    ...(isMore && { nextCursor: new LogCursor(incarnation, end, order).toString() }),
  };
}

function stretchOf(request: ListEventsRequest, cursor: LogCursor | undefined): SeqRange | undefined {
  const afterSeq = optionalCount(request.afterSeq, 'afterSeq') ?? 0;
  const beforeSeq = optionalCount(request.beforeSeq, 'beforeSeq') ?? Number.MAX_SAFE_INTEGER;
  const from = cursor?.order === 'asc' ? Math.max(afterSeq, cursor.seq) + 1 : afterSeq + 1;
  const to = cursor?.order === 'desc' ? Math.min(beforeSeq, cursor.seq) - 1 : beforeSeq - 1;
  return from <= to ? { from, to } : undefined;
}
