import type { SessionRecord } from '../../domain/session-record.js';
import { comparePositions, positionOf } from '../list-order.js';
import type { ListRequest } from '../session-storage.js';

/** The page of `entries` that `request` asks for. */
export function listOf<Entry extends { readonly record: SessionRecord }>(
  entries: readonly Entry[],
  request: ListRequest,
): Entry[] {
  const { limit, after, offset = 0 } = request;
  return entries
    .map((entry) => ({ entry, position: positionOf(entry.record, request) }))
    .filter(({ position }) => !after || comparePositions(position, after, request) > 0)
    .toSorted((a, b) => comparePositions(a.position, b.position, request))
    .slice(offset, offset + limit)
    .map(({ entry }) => entry);
}
