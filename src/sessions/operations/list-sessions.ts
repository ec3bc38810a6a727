import { ListCursor } from '../domain/cursors.js';
import { InvalidInputError } from '../domain/errors.js';
import { type StateOwner, assertStateOwner } from '../domain/ids.js';
import { optionalCount } from '../domain/optional-count.js';
import { checkedLimit, checkedOffset, checkedOrder, checkedOrderBy } from '../domain/paging.js';
import type { Session } from '../domain/session.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { ListOrderBy, ListRequest, ListResult } from '../storage/session-storage.js';
import { openSession } from './open-session.js';

/** Whose sessions to list: those of a user, or, without `userId`, of the whole app. */
export interface ListSessionsRequest extends StateOwner {
  /** Sessions a page; 100 unless said otherwise, at most 1,000. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Newest first unless said otherwise. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** By `createTime`, a walk through all pages is complete even while sessions change. */
  readonly orderBy?: ListOrderBy | undefined;
  /** Pages counted from 1, with totals; for at most 10,000 sessions. */
  readonly page?: number | undefined;
  /** How many to skip, instead of `page`; at most 10,000. */
  readonly offset?: number | undefined;
}

/** A page of sessions. */
export interface SessionPage {
  /** Without events; their state is merged as ever. */
  readonly sessions: Session[];
  /** How many a page has. */
  readonly limit: number;
  /** For the next page; missing on the last one. */
  readonly nextCursor?: string;
  /** Only where `page` or `offset` was given. */
  readonly page?: number;
  readonly totalItems?: number;
  readonly totalPages?: number;
}

export async function listSessions(env: SessionEnvironment, request: ListSessionsRequest): Promise<SessionPage> {
  const { appName, userId } = request;
  assertStateOwner({ appName, userId });
  const limit = checkedLimit(request.limit);
  const order = checkedOrder(request.order, 'desc');
  const orderBy = checkedOrderBy(request.orderBy);
  const offset = offsetOf(request, limit);
  const after = positionAfter(request, { orderBy, order, offset });

  // One more than asked for tells whether there is a next page.
  const probe = { appName, userId, orderBy, order, limit: limit + 1, after, offset, withTotal: offset !== undefined };
  const result = await env.storage.list(probe);
  const listed = result.sessions.slice(0, limit);
  const sessions = listed.map((stored) => openSession(stored, [], { items: [] }));
  const last = listed.at(-1)?.record;
  const cursor = last && new ListCursor(orderBy, order, last[orderBy], last.userId, last.sessionId);
  return {
    sessions,
    limit,
    ...(cursor && result.sessions.length > limit && { nextCursor: cursor.toString() }),
    ...totals(result, limit, offset),
  };
}

function positionAfter(
  request: ListSessionsRequest,
  { orderBy, order, offset }: Pick<ListRequest, 'orderBy' | 'order' | 'offset'>,
): ListRequest['after'] {
  const cursor = ListCursor.parse(request.cursor);
  if (!cursor) return undefined;
  if (cursor.orderBy !== orderBy || cursor.order !== order) {
    throw new InvalidInputError('belongs to a list in another order', 'cursor');
  }
  if (offset !== undefined) throw new InvalidInputError('goes with neither page nor offset', 'cursor');
  return cursor;
}

function offsetOf(request: ListSessionsRequest, limit: number): number | undefined {
  const page = optionalCount(request.page, 'page');
  if (page === 0) throw new InvalidInputError('counts from 1', 'page');
  const skipped = optionalCount(request.offset, 'offset');
  if (page !== undefined && skipped !== undefined) throw new InvalidInputError('goes with no offset', 'page');
  const offset = page === undefined ? skipped : (page - 1) * limit;
  return offset === undefined ? undefined : checkedOffset(offset);
}

function totals({ total }: ListResult, limit: number, offset: number | undefined): Partial<SessionPage> {
  if (offset === undefined || total === undefined) return {};
  return {
    page: limit > 0 ? Math.floor(offset / limit) + 1 : 1,
    totalItems: total,
    totalPages: limit > 0 ? Math.ceil(total / limit) : 0,
  };
}
