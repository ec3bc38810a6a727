import type { ListSessionsRequest, ListSessionsResponse } from '@google/adk';
import { InvalidInputError, type Session, type SessionService } from '../../index.js';
import { adkSession } from './adk-events.js';

const LONGEST_PAGE = 1_000;

/** Lists sessions as ADK does: all of them, or a page with totals. */
export async function listedSessions(
  sessions: SessionService,
  { appName, userId, order, ...paging }: ListSessionsRequest,
): Promise<ListSessionsResponse> {
  // Without an order, that of their creation, in which a list is complete even while sessions change.
  const sorted = order
    ? { order, orderBy: 'lastUpdateTime' as const }
    : { order: 'asc' as const, orderBy: 'createTime' as const };
  const wanted = { appName, userId, ...sorted };
  const limit = parseOptionalCount(paging.limit, 'limit');
  const page = parseOptionalCount(paging.page, 'page');
  const skipped = parseOptionalCount(paging.offset, 'offset') ?? 0;
  if (page === 0) throw new InvalidInputError('must be a whole number from 1 on', 'page');
  if (limit === undefined) {
    const { found } = await read(sessions, wanted, Infinity);
    const totalItems = found.length;
    const totalPages = totalItems === 0 ? 0 : 1;
    return { sessions: found.slice(skipped).map(adkSession), page: 1, limit: totalItems, totalItems, totalPages };
  }
  const offset = page === undefined ? skipped : (page - 1) * limit;
  const { found, totalItems } = await read(sessions, { ...wanted, offset }, limit);
  return {
    sessions: found.map(adkSession),
    page: page ?? (limit === 0 ? 1 : Math.floor(offset / limit) + 1),
    limit,
    totalItems,
    totalPages: limit === 0 ? 0 : Math.ceil(totalItems / limit),
  };
}

type Wanted = Parameters<SessionService['listSessions']>[0];

/** Reads up to `most` sessions; the rest of a long list by cursors. */
async function read(
  sessions: SessionService,
  wanted: Wanted,
  most: number,
): Promise<{ readonly found: readonly Session[]; readonly totalItems: number }> {
  const first = await sessions.listSessions({ ...wanted, limit: Math.min(most, LONGEST_PAGE) });
  const found = [...first.sessions];
  const { offset: _offset, ...others } = wanted;
  for (let cursor = first.nextCursor; cursor !== undefined && found.length < most;) {
    const next = await sessions.listSessions({ ...others, cursor, limit: Math.min(most - found.length, LONGEST_PAGE) });
    found.push(...next.sessions);
    cursor = next.nextCursor;
  }
  return { found, totalItems: first.totalItems ?? found.length };
}

function parseOptionalCount(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidInputError('must be a whole number from 0 on', path);
}
