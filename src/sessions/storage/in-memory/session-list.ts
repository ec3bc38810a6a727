import { compareBytes } from '../../domain/byte-order.js';
import type { SessionRecord } from '../../domain/session-record.js';
import type { ListPosition, ListRequest } from '../session-storage.js';

/** The page of `entries` that `request` asks for. */
export function listOf<Entry extends { readonly record: SessionRecord }>(
  entries: readonly Entry[],
  { orderBy, order, limit, after, offset = 0 }: ListRequest,
): Entry[] {
  const direction = order === 'asc' ? 1 : -1;
  const position = ({ record }: Entry): ListPosition => ({ ...pick(record), time: record[orderBy] });
  return entries
    .filter((entry) => !after || direction * comparePositions(position(entry), after) > 0)
    .toSorted((a, b) => direction * comparePositions(position(a), position(b)))
    .slice(offset, offset + limit);
}

function pick({ userId, sessionId }: SessionRecord): Omit<ListPosition, 'time'> {
  return { userId, sessionId };
}

function comparePositions(a: ListPosition, b: ListPosition): number {
  return a.time - b.time || compareBytes(a.userId, b.userId) || compareBytes(a.sessionId, b.sessionId);
}
