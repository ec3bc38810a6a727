import { InvalidInputError } from '../errors/errors.js';
import { isId } from './ids.js';
import { isCount, optionalCount } from './input-checks.js';
import type { SeqRange } from './seq-ranges.js';

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 1_000;
/** Skipping costs as much as reading. Cursors reach further pages. */
export const MAX_OFFSET = 10_000;

export function checkedLimit(limit: unknown, path = 'limit', most = MAX_LIMIT): number {
  const count = optionalCount(limit, path) ?? DEFAULT_LIMIT;
  if (count > most) throw new InvalidInputError(`must be at most ${most}`, path);
  return count;
}

export function checkedOffset(offset: number): number {
  if (offset > MAX_OFFSET) {
    throw new InvalidInputError(`must be at most ${MAX_OFFSET}; use a cursor for longer lists`, 'offset');
  }
  return offset;
}

export function checkedOrder(order: unknown, otherwise: 'asc' | 'desc'): 'asc' | 'desc' {
  if (order === undefined || order === null) return otherwise;
  if (order === 'asc' || order === 'desc') return order;
  throw new InvalidInputError('must be "asc" or "desc"', 'order');
}

export function checkedOrderBy(orderBy: unknown): 'lastUpdateTime' | 'createTime' {
  if (orderBy === undefined || orderBy === null) return 'lastUpdateTime';
  if (orderBy === 'lastUpdateTime' || orderBy === 'createTime') return orderBy;
  throw new InvalidInputError('must be "lastUpdateTime" or "createTime"', 'orderBy');
}

/**
 * Reads all pages of a list, each when the one before is done with.
 *
 * @example
 * for await (const { events } of readPages((cursor) => sessions.listEvents({ ...key, cursor }))) show(events);
 */
export async function* readPages<Page extends { readonly nextCursor?: string }>(
  read: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page, void, void> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    yield page;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** Which page of a log to read. */
export interface LogPageRequest {
  /** Events per page. Default 100, at most 1,000. */
  readonly limit?: number | undefined;
  /** Default: oldest first. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** The last event that the caller has seen: an answer of `readsOf` has it, also if it comes from a replica. Default: none. */
  readonly minSeq?: number | undefined;
}

/** The end of a page of events. It belongs to one incarnation of a session, not to a later session of the same id. */
export class LogCursor {
  constructor(
    readonly incarnation: string,
    readonly seq: number,
    readonly order: 'asc' | 'desc',
  ) {}

  /** @param order of the list, in which the cursor must have been made */
  static parse(text: unknown, order: 'asc' | 'desc'): LogCursor | undefined {
    const fields = parseFields(text);
    if (!fields) return undefined;
    const [incarnation, seq, madeIn, ...rest] = fields;
    const fits = typeof incarnation === 'string' && Number.isSafeInteger(seq) && isOrder(madeIn) && rest.length === 0;
    if (!fits) return refuse();
    if (madeIn !== order) throw new InvalidInputError('belongs to a list in the other order', 'cursor');
    return new LogCursor(incarnation, seq as number, order);
  }

  toString(): string {
    return encodeFields([this.incarnation, this.seq, this.order]);
  }
}

/** What is left of a part of the log after the page that ended with the cursor; nothing if that is empty. */
export function leftAfter({ from, to }: SeqRange, cursor: LogCursor | undefined): SeqRange | undefined {
  const first = cursor?.order === 'asc' ? Math.max(from, cursor.seq + 1) : from;
  const last = cursor?.order === 'desc' ? Math.min(to, cursor.seq - 1) : to;
  return first <= last ? { from: first, to: last } : undefined;
}

/** Where the next page of state changes begins: an event, and how many of its changes to skip. */
export class StateChangeCursor {
  constructor(
    readonly incarnation: string,
    readonly seq: number,
    readonly skip: number,
  ) {}

  static parse(text: unknown): StateChangeCursor | undefined {
    const fields = parseFields(text);
    if (!fields) return undefined;
    const [kind, incarnation, seq, skip, ...rest] = fields;
    const fits = kind === 'state' && typeof incarnation === 'string' && isCount(seq) && isCount(skip);
    return fits && rest.length === 0 ? new StateChangeCursor(incarnation, seq, skip) : refuse();
  }

  toString(): string {
    return encodeFields(['state', this.incarnation, this.seq, this.skip]);
  }
}

/** The end of a page of sessions. */
export class ListCursor {
  constructor(
    readonly orderBy: 'lastUpdateTime' | 'createTime',
    readonly order: 'asc' | 'desc',
    readonly time: number,
    readonly userId: string,
    readonly sessionId: string,
    /** Stands for the filter of the list; '' without one. */
    readonly filter: string,
  ) {}

  static parse(text: unknown): ListCursor | undefined {
    const fields = parseFields(text);
    if (!fields) return undefined;
    const [orderBy, order, time, userId, sessionId, filter = '', ...rest] = fields;
    // Clients can forge cursors, and not every store accepts every text.
    const fits =
      (orderBy === 'lastUpdateTime' || orderBy === 'createTime') &&
      isOrder(order) &&
      Number.isSafeInteger(time) &&
      isId(userId) &&
      isId(sessionId) &&
      typeof filter === 'string' &&
      rest.length === 0;
    return fits ? new ListCursor(orderBy, order, time as number, userId, sessionId, filter) : refuse();
  }

  toString(): string {
    const { orderBy, order, time, userId, sessionId, filter } = this;
    return encodeFields([orderBy, order, time, userId, sessionId, ...(filter ? [filter] : [])]);
  }
}

/** The text of a cursor. */
export function encodeFields(fields: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/**
 * What the text of a cursor is made of, which clients can forge; `undefined` without a cursor.
 *
 * @param refused throws for what is no cursor
 */
export function parseFields(text: unknown, refused: () => never = refuse): unknown[] | undefined {
  if (text === undefined || text === null) return undefined;
  if (typeof text !== 'string') return refused();
  try {
    const fields: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(fields) ? fields : refused();
  } catch {
    return refused();
  }
}

function isOrder(value: unknown): value is 'asc' | 'desc' {
  return value === 'asc' || value === 'desc';
}

function refuse(): never {
  throw new InvalidInputError('must be the nextCursor of a previous page', 'cursor');
}
