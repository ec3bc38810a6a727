import type { ReadEvent } from './stamped-event.js';

/**
 * The events that count, in their order. Left out are the events of a batch that was not completed, and those that
 * arrived twice because the answer to the first try was lost.
 *
 * @param isWhole whether these are all events of the log, and not only its end
 */
export function effectiveEvents(events: readonly ReadEvent[], isWhole: boolean): ReadEvent[] {
  const arrived = new Map<string, Set<number>>();
  for (const { batch } of events) {
    if (!batch) continue;
    const indexes = arrived.get(batch.id) ?? new Set();
    arrived.set(batch.id, indexes.add(batch.index));
  }
  const seen = new Set<string>();
  return events.filter(({ id, batch }) => {
    if (batch && !isComplete(batch.size, arrived.get(batch.id), isWhole)) return false;
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

function isComplete(size: number, indexes: ReadonlySet<number> = new Set(), isWhole: boolean): boolean {
  // Events are sent in their order, so the last one means all, even if the first ones were not read.
  return isWhole ? indexes.size === size : indexes.has(size - 1);
}
