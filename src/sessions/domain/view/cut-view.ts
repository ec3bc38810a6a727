import { MAX_PULL_BACK, type Pull, withCalls } from './tool-pairs.js';
import { type ViewItem, isAnchorItem } from './view-item.js';

/** Limits of a view; 0 = no limit. */
export interface ViewFilter {
  readonly newest: number;
  readonly maxAgeMs: number;
  /** Earlier events are omitted, except a tool call or an anchor that the view needs. */
  readonly fromSeq?: number | undefined;
}

/** The loaded part of a conversation: its newest events without gaps, and what is known of older ones. */
export interface Conversation {
  /** The current summary, the first item of the view. */
  readonly summary?: ViewItem | undefined;
  readonly items: readonly ViewItem[];
  /** Whether there are events between the summary and the items. */
  readonly hasOlder: boolean;
  /** The last anchor among older events, if known; `none` if there is none. */
  readonly olderAnchor?: ViewItem | 'none' | undefined;
}

/** The result of cutting a view. */
export interface Cut {
  readonly view: readonly ViewItem[];
  /** Number of items before the tail. */
  readonly tailStart: number;
  /** Older events that must be loaded before the view is complete. */
  readonly lacks?: 'calls' | 'anchor' | undefined;
  /** How limits chose the items; missing without limits. */
  readonly choice?: Choice | undefined;
}

/** What the limits of a view chose, as indexes of the items. */
export interface Choice {
  /** Within the limits of age and number, ascending. */
  readonly tail: readonly number[];
  /** Of them, those from the anchor on with which the view begins. */
  readonly wanted: readonly number[];
  readonly pulls: readonly Pull[];
}

export function isFiltering({ newest, maxAgeMs, fromSeq }: ViewFilter): boolean {
  return newest > 0 || maxAgeMs > 0 || fromSeq !== undefined;
}

/**
 * Cuts a view: the events within the age and number limits, beginning at an anchor, each tool response after its call,
 * and the summary first. A view is not empty if the conversation has an anchor.
 *
 * @example cutView({ items, hasOlder: false }, { newest: 20, maxAgeMs: 0 }, now).view
 */
export function cutView(conversation: Conversation, filter: ViewFilter, now: number): Cut {
  const { summary, items, hasOlder } = conversation;
  if (!isFiltering(filter)) return { view: summary ? [summary, ...items] : items, tailStart: 0 };

  const tail = tailPlaces(items, filter, now);
  const tailStart = tail[0] ?? items.length;
  const head = summary && isYoung(summary, filter, now) ? summary : undefined;
  const isContinued = head !== undefined && !isCutByNumber(tail, conversation, filter);
  const firstAnchor = tail.findIndex((place) => isAnchorItem(items[place] as ViewItem));
  const wanted = isContinued || firstAnchor < 0 ? tail : tail.slice(firstAnchor);
  const from = tailStart - MAX_PULL_BACK;
  const { places, pulls, lacksCalls } = withCalls(items, wanted, { from, isAll: from >= 0 || !hasOlder });

  const kept = places.map((place) => items[place] as ViewItem);
  const needsAnchor = !isContinued && !(kept[0] && isAnchorItem(kept[0]));
  const anchor = needsAnchor ? lastAnchorBefore(places[0] ?? items.length, conversation) : 'none';
  const front = [head, anchor === 'none' ? undefined : anchor].filter((item) => item !== undefined);
  if (front.length === 0 && needsAnchor && summary) front.push(summary);
  const lacks = lacksCalls ? 'calls' : anchor === undefined ? 'anchor' : undefined;
  return { view: [...front, ...kept], tailStart, lacks, choice: { tail, wanted, pulls } };
}

/** The indexes of the items within the age and number limits. */
export function tailPlaces(items: readonly ViewItem[], filter: ViewFilter, now: number): number[] {
  const { newest, fromSeq = 0 } = filter;
  const most = newest > 0 ? newest : items.length;
  const places: number[] = [];
  for (let place = items.length - 1; place >= 0 && places.length < most; place--) {
    const item = items[place] as ViewItem;
    if (item.event.seq >= fromSeq && isYoung(item, filter, now)) places.push(place);
  }
  return places.toReversed();
}

/** Whether the number limit decides where the tail begins, not the age or the beginning of the conversation. */
function isCutByNumber(
  tail: readonly number[],
  { items, hasOlder }: Conversation,
  { newest, fromSeq }: ViewFilter,
): boolean {
  const hasBefore = hasOlder || (tail[0] ?? items.length) > 0;
  return hasBefore && (fromSeq !== undefined || (newest > 0 && tail.length >= newest));
}

export function isYoung({ time }: ViewItem, { maxAgeMs }: ViewFilter, now: number): boolean {
  return maxAgeMs === 0 || time >= now - maxAgeMs;
}

function lastAnchorBefore(
  place: number,
  { items, hasOlder, olderAnchor }: Conversation,
): ViewItem | 'none' | undefined {
  return items.slice(0, place).findLast(isAnchorItem) ?? (hasOlder ? olderAnchor : 'none');
}
