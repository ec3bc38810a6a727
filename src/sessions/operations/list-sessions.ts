import { ByteBudget, entriesBytes, MOST_PER_READ } from '../domain/stored/byte-budget.js';
import { checkedLimit, checkedOffset, checkedOrder, checkedOrderBy, ListCursor } from '../domain/values/paging.js';
import { digestOf } from '../domain/values/json-digest.js';
import { InvalidInputError, LimitExceededError, type SessionsError } from '../domain/errors/errors.js';
import { type SessionKey, type StateOwner, assertStateOwner, sessionKeyOf } from '../domain/values/ids.js';
import { optionalCount, optionalFlag } from '../domain/values/input-checks.js';
import type { Session } from '../domain/session/session.js';
import { entriesOfBoth, ruleFilter } from '../domain/metadata/rule-filter.js';
import type { IndexEntry } from '../domain/metadata/metadata-entries.js';
import { type SessionFilter, assertFilterSize, filterEntries } from '../domain/metadata/session-filter.js';
import { type SessionEnvironment, readFilter } from '../session-environment.js';
import { positionOf } from '../storage/list-order.js';
import type {
  ListOrderBy,
  ListPosition,
  ListRequest,
  ListedSession,
  OwnState,
  SessionStorage,
  StateEntries,
} from '../storage/session-storage.js';
import { SessionOpener } from './create-session.js';
import { sourceWithoutEvents } from './read-view.js';

/** How many sessions one request to the store examines for a filter, unless a page is longer. */
const MAX_EXAMINED = 1_000;

/** The sessions to list: those of a user or, without `userId`, of the whole app. */
export interface ListSessionsRequest extends StateOwner {
  /** Sessions per page. Default 100, at most 1,000. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Default: newest first. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** With `createTime`, paging is complete even while sessions change. */
  readonly orderBy?: ListOrderBy | undefined;
  /** Page number from 1, with totals; for at most 10,000 sessions. */
  readonly page?: number | undefined;
  /** Number of sessions to skip, instead of `page`; at most 10,000. */
  readonly offset?: number | undefined;
  /** Whether to read the state. Default true; with `false`, `state` is empty. */
  readonly includeState?: boolean | undefined;
  /**
   * Only sessions whose metadata has all of this. Not with `page` or `offset`. A page may then be shorter than `limit`, and
   * even empty, although a `nextCursor` says that there may be more.
   */
  readonly filter?: SessionFilter | undefined;
  /**
   * Only those of them whose metadata also has all of this: the filter of an access rule, which a request must not widen. If no
   * session can have both, the list is empty.
   */
  readonly within?: SessionFilter | undefined;
}

/** A page of sessions. */
export interface SessionPage {
  /** Without events, with the merged state. One that cannot be decrypted has `unreadable`, and no state. */
  readonly sessions: Session[];
  /** Maximum number of sessions per page. */
  readonly limit: number;
  /** For the next page. Missing on the last page. */
  readonly nextCursor?: string;
  /** Only if `page` or `offset` was given. */
  readonly page?: number;
  readonly totalItems?: number;
  readonly totalPages?: number;
}

/**
 * A page of sessions. It is shorter if their state and metadata are large. Pages by `page` or `offset` cannot be shorter, since the next
 * page would skip sessions.
 *
 * @param onUnreadable learns why sessions of an encrypted store are listed without their texts. Default: the log of the server
 * @throws LimitExceededError if a page by `page` or `offset` is too large
 */
export async function listSessions(
  env: SessionEnvironment,
  request: ListSessionsRequest,
  onUnreadable: (key: SessionKey, error: SessionsError) => void = (_key, error) => env.damage.addUnreadable(error),
): Promise<SessionPage> {
  const { appName, userId } = request;
  assertStateOwner({ appName, userId });
  const limit = checkedLimit(request.limit);
  const order = checkedOrder(request.order, 'desc');
  const orderBy = checkedOrderBy(request.orderBy);
  const offset = offsetOf(request, limit);
  const entries = combineFilterEntries(request, env);
  if (!entries) return { sessions: [], limit };
  if (entries.length > 0 && offset !== undefined) {
    throw new InvalidInputError('cannot be combined with page or offset; continue with the cursor', 'filter');
  }
  const filterName = filterNameOf(entries);
  const after = positionAfter(request, { orderBy, order, offset, filterName });
  const withState = optionalFlag(request.includeState, 'includeState') ?? true;

  const { maxPageBytes } = env.limits;
  const filter = entries.length > 0 ? { entries, maxExamined: Math.max(MAX_EXAMINED, limit) } : undefined;
  const maxStateBytes = env.stateLimits;
  const wanted = { appName, userId, orderBy, order, after, offset, withState, filter, maxStateBytes };
  const { listed, damaged, next, isCut, total } = await readPage(env.storage, wanted, limit, maxPageBytes);
  for (const key of damaged) env.damage.addRecord(key);
  for (const { record, unreadable } of listed) if (unreadable) onUnreadable(sessionKeyOf(record), unreadable);
  if (isCut && offset !== undefined) throw new LimitExceededError(tooLarge(maxPageBytes), 'limit');
  const viewFilter = readFilter(env);
  const opener = new SessionOpener(env.storage);
  const sessions = listed.map(({ record, metadata, state, unreadable }) => {
    const parts = { record, metadata, ...(withState && { state }), unreadable: unreadable?.code };
    return opener.open(parts, [], () => sourceWithoutEvents(record, viewFilter));
  });
  const cursor = next && new ListCursor(orderBy, order, next.time, next.userId, next.sessionId, filterName);
  return {
    sessions,
    limit,
    ...(cursor && { nextCursor: cursor.toString() }),
    ...totals(total, limit, offset),
  };
}

type Filtered = Pick<ListSessionsRequest, 'filter' | 'within'>;

/** The entries of all filters; undefined if no session can have them. */
function combineFilterEntries({ filter, within }: Filtered, { limits }: SessionEnvironment): IndexEntry[] | undefined {
  // A part of the rule without a value would show everything.
  const allowed = within === undefined ? [] : ruleFilter(within, 'within', limits).entries;
  const entries = entriesOfBoth(filterEntries(filter, 'filter', limits), allowed);
  if (entries) assertFilterSize(entries, 'filter');
  return entries;
}

/** The cursor after a session of a list by `lastUpdateTime`, the newest first: to end a page before its end. */
export function cursorAfter(
  { lastUpdateTime, userId, id }: Session,
  env: SessionEnvironment,
  filtered: Filtered,
): string {
  const filterName = filterNameOf(combineFilterEntries(filtered, env) ?? []);
  return new ListCursor('lastUpdateTime', 'desc', lastUpdateTime, userId, id, filterName).toString();
}

function filterNameOf(entries: readonly IndexEntry[]): string {
  return entries.length > 0 ? digestOf(entries) : '';
}

interface ReadPage {
  readonly listed: readonly ListedSession[];
  /** Sessions whose record is damaged. */
  readonly damaged: readonly SessionKey[];
  /** Where the next page begins; missing on the last page. */
  readonly next: ListPosition | undefined;
  /** Whether the page ended early. */
  readonly isCut: boolean;
  readonly total: number | undefined;
}

/** Reads until the page is full by number or by bytes. One read is enough, unless the store ends it early. */
async function readPage(
  storage: SessionStorage,
  wanted: Omit<ListRequest, 'limit'>,
  limit: number,
  maxBytes: number,
): Promise<ReadPage> {
  const budget = new ByteBudget(maxBytes);
  const bytesOf = sizeOfListed(wanted);
  const listed: ListedSession[] = [];
  const damaged: SessionKey[] = [];
  let place = { after: wanted.after, offset: wanted.offset, withTotal: wanted.offset !== undefined };
  let total: number | undefined;
  for (;;) {
    const size = Math.min(limit - listed.length, MOST_PER_READ);
    // Reads one more, to know whether there is another page.
    const result = await storage.list({ ...wanted, ...place, limit: size + 1, maxBytes: budget.left });
    total ??= result.total;
    damaged.push(...(result.damaged ?? []));
    const { isCut, examinedTo } = result;
    for (const session of result.sessions.slice(0, size)) {
      if (!budget.take(bytesOf(session)))
        return { listed, damaged, next: findLastPosition(listed, wanted), isCut: true, total };
      listed.push(session);
    }
    const next = isCut || result.sessions.length > size ? findLastPosition(listed, wanted) : examinedTo;
    if (!next || examinedTo || listed.length >= limit) return { listed, damaged, next, isCut: false, total };
    place = { after: next, offset: undefined, withTotal: false };
  }
}

function findLastPosition(
  listed: readonly ListedSession[],
  wanted: Pick<ListRequest, 'orderBy'>,
): ListPosition | undefined {
  const last = listed.at(-1);
  return last && positionOf(last.record, wanted);
}

/** Sizes of the sessions of a page, which share user and app state. A store may return state that was not requested. */
function sizeOfListed({ withState }: Pick<ListRequest, 'withState'>): (session: ListedSession) => number {
  const [userBytes, appBytes] = [sizeOfShared(), sizeOfShared()];
  return ({ metadata, state: { session, user, app } }) => {
    const stateBytes = withState ? ownBytes(session) + userBytes(user) + appBytes(app) : 0;
    return Buffer.byteLength(metadata) + stateBytes;
  };
}

function ownBytes(state: OwnState): number {
  return typeof state === 'string' ? Buffer.byteLength(state) : entriesBytes(state);
}

function sizeOfShared(): (entries: StateEntries) => number {
  let known: StateEntries = [];
  let bytes = 0;
  return (entries) => {
    if (entries !== known) [known, bytes] = [entries, entriesBytes(entries)];
    return bytes;
  };
}

function tooLarge(maxBytes: number): string {
  return `asks for a page of more than ${maxBytes} bytes; ask for fewer sessions, by cursor, or without their state`;
}

function positionAfter(
  request: ListSessionsRequest,
  { orderBy, order, offset, filterName }: Pick<ListRequest, 'orderBy' | 'order' | 'offset'> & { filterName: string },
): ListRequest['after'] {
  const cursor = ListCursor.parse(request.cursor);
  if (!cursor) return undefined;
  if (cursor.orderBy !== orderBy || cursor.order !== order) {
    throw new InvalidInputError('belongs to a list in another order', 'cursor');
  }
  if (cursor.filter !== filterName) throw new InvalidInputError('belongs to a list with another filter', 'cursor');
  if (offset !== undefined) throw new InvalidInputError('cannot be combined with page or offset', 'cursor');
  return cursor;
}

function offsetOf(request: ListSessionsRequest, limit: number): number | undefined {
  const page = optionalCount(request.page, 'page');
  if (page === 0) throw new InvalidInputError('must be a whole number from 1 on', 'page');
  const skipped = optionalCount(request.offset, 'offset');
  if (page !== undefined && skipped !== undefined)
    throw new InvalidInputError('cannot be combined with offset', 'page');
  const offset = page === undefined ? skipped : (page - 1) * limit;
  return offset === undefined ? undefined : checkedOffset(offset);
}

function totals(total: number | undefined, limit: number, offset: number | undefined): Partial<SessionPage> {
  if (offset === undefined || total === undefined) return {};
  return {
    page: limit > 0 ? Math.floor(offset / limit) + 1 : 1,
    totalItems: total,
    totalPages: limit > 0 ? Math.ceil(total / limit) : 0,
  };
}

/** The names of all apps that have sessions, and perhaps of some that had. */
export async function listApps({ storage }: SessionEnvironment): Promise<string[]> {
  return storage.consumers.apps();
}
