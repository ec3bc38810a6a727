import { compareBytes } from '../../domain/byte-order.js';
import type { SessionRecord } from '../../domain/session-record.js';
import type { ListPosition, ListRequest } from '../session-storage.js';

/** The page of `entries` that `request` asks for. */
export function listOf<Entry extends { readonly record: SessionRecord }>(
  entries: readonly Entry[],
  { orderBy, order, limit, after, offset = 0 }: ListRequest,
): Entry[] {
  const direction = order === 'asc' ? 1 : -1;
  return entries
    .map((entry) => ({ entry, position: positionOf(entry.record, orderBy) }))
    .filter(({ position }) => !after || direction * comparePositions(position, after) > 0)
    .toSorted((a, b) => direction * comparePositions(a.position, b.position))
    .slice(offset, offset + limit)
    .map(({ entry }) => entry);
}

function positionOf(record: SessionRecord, orderBy: ListRequest['orderBy']): ListPosition {
  return { time: record[orderBy], userId: record.userId, sessionId: record.sessionId };
}

function comparePositions(a: ListPosition, b: ListPosition): number {
  return a.time - b.time || compareBytes(a.userId, b.userId) || compareBytes(a.sessionId, b.sessionId);
}
