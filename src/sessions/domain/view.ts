import { withCallsOfFirstResponses } from './tool-pairs.js';
import { type ViewItem, isAnchorItem } from './view-item.js';

/** How much of a conversation a view keeps; 0 = no limit. */
export interface ViewFilter {
  readonly newest: number;
  readonly maxAgeMs: number;
}

/** A conversation cut in two. */
export interface Cut {
  /** What lies directly before the kept part. */
  readonly before: readonly ViewItem[];
  readonly kept: readonly ViewItem[];
}

/**
 * What of a conversation a reader sees: what age and number leave, begun where a conversation can begin,
 * with tool calls kept beside their answers. It is not empty while the conversation has an anchor.
 *
 * @param items the newest part of the conversation, without gaps
 * @param anchorBefore the last anchor before them, where they do not reach back to the beginning
 */
export function filterView(
  items: readonly ViewItem[],
  filter: ViewFilter,
  now: number,
  anchorBefore?: ViewItem,
): readonly ViewItem[] {
  return isFiltering(filter) ? withAnchor(cutView(items, filter, now), anchorBefore) : items;
}

export function isFiltering({ newest, maxAgeMs }: ViewFilter): boolean {
  return newest > 0 || maxAgeMs > 0;
}

/** What age and number leave. */
export function tailOf(items: readonly ViewItem[], { newest, maxAgeMs }: ViewFilter, now: number): ViewItem[] {
  const fresh = maxAgeMs > 0 ? items.filter(({ time }) => time >= now - maxAgeMs) : items;
  return newest > 0 ? fresh.slice(-newest) : [...fresh];
}

/** Everything but the anchor that may have to be put in front. */
export function cutView(items: readonly ViewItem[], filter: ViewFilter, now: number): Cut {
  const tail = tailOf(items, filter, now);
  const firstAnchor = tail.findIndex(isAnchorItem);
  const kept = firstAnchor >= 0 ? tail.slice(firstAnchor) : withCallsOfFirstResponses(tail, items);
  return { before: kept[0] ? items.slice(0, items.indexOf(kept[0])) : items, kept };
}

/** Whether the last anchor before a cut lies further back than what is at hand. */
export function lacksAnchor({ before, kept }: Cut): boolean {
  return !kept.some(isAnchorItem) && !before.some(isAnchorItem);
}

export function withAnchor({ before, kept }: Cut, anchorBefore?: ViewItem): readonly ViewItem[] {
  if (kept.some(isAnchorItem)) return kept;
  const anchor = before.findLast(isAnchorItem) ?? anchorBefore;
  return anchor ? [anchor, ...kept] : kept;
}
