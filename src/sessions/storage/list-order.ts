import { compareBytes } from '../domain/values/ids.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import type { ListPosition, ListRequest } from './session-storage.js';

type Order = Pick<ListRequest, 'orderBy' | 'order'>;

/**
 * The position of a session in a list.
 *
 * @example const next = page.filter((record) => comparePositions(positionOf(record, request), after, request) > 0);
 */
export function positionOf(record: SessionRecord, { orderBy }: Pick<Order, 'orderBy'>): ListPosition {
  return { time: record[orderBy], userId: record.userId, sessionId: record.sessionId };
}

/**
 * Compares two positions in a list of this order.
 *
 * @example records.sort((a, b) => comparePositions(positionOf(a, request), positionOf(b, request), request));
 */
export function comparePositions(a: ListPosition, b: ListPosition, { order }: Pick<Order, 'order'>): number {
  const ascending = a.time - b.time || compareBytes(a.userId, b.userId) || compareBytes(a.sessionId, b.sessionId);
  return order === 'asc' ? ascending : -ascending;
}
