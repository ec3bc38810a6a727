import { InvalidInputError } from './errors.js';
import { optionalCount } from './optional-count.js';

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 1_000;
/** Skipping costs as much as reading. Cursors reach further pages. */
export const MAX_OFFSET = 10_000;

export function checkedLimit(limit: unknown, path = 'limit'): number {
  const count = optionalCount(limit, path) ?? DEFAULT_LIMIT;
  if (count > MAX_LIMIT) throw new InvalidInputError(`must be at most ${MAX_LIMIT}`, path);
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

export function checkedFlag(flag: unknown, path: string): boolean | undefined {
  if (flag === undefined || flag === null) return undefined;
  if (typeof flag === 'boolean') return flag;
  throw new InvalidInputError('must be true or false', path);
}
