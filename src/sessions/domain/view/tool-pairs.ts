import { getFunctionCalls, getFunctionResponses } from '../event/event-inspection.js';
import type { FunctionCall } from '../event/content.js';
import type { Event } from '../event/event.js';
import type { ViewItem } from './view-item.js';

/** How far back a cut may move to keep a tool response with its call. */
export const MAX_PULL_BACK = 20;

/** The range in which calls are searched. */
interface Reach {
  /** First index of a possible call. */
  readonly from: number;
  /** Whether the items are complete from there on. */
  readonly isAll: boolean;
}

/** Items that a tool response brought into a view: its call, and what lies between. All are indexes. */
export interface Pull {
  readonly from: number;
  readonly to: number;
  readonly by: number;
}

/** The places of a view, with the calls that its responses need. */
export interface PairedPlaces {
  /** Ascending. */
  readonly places: readonly number[];
  /** The first that contains a place is why it was added. */
  readonly pulls: readonly Pull[];
  /** Whether a call may be missing because items are not loaded. */
  readonly lacksCalls: boolean;
}

/**
 * Adds the calls that tool responses need, since models reject a response without its call. A call before the wanted
 * events is added with all events in between; a call in a gap is added alone. A response whose call is out of reach is
 * dropped, and so are responses to calls of the dropped event.
 *
 * @param wanted indexes in `items`, ascending
 */
export function withCalls(items: readonly ViewItem[], wanted: readonly number[], reach: Reach): PairedPlaces {
  const [begin = items.length] = wanted;
  const needed = callsNeeded(items, reach);
  const kept = new Set(wanted);
  const places: number[] = [];
  const pulls: Pull[] = [];
  let first = begin;
  let lacksCalls = false;
  // Calls precede their responses, so one backward pass finds every response before its call.
  for (let place = items.length - 1; place >= first; place--) {
    if (place >= begin && !kept.has(place)) continue;
    const calls = needed[place] ?? NO_CALLS;
    if (calls.includes(OUT_OF_REACH)) {
      if (reach.isAll) continue;
      lacksCalls = true;
    }
    places.push(place);
    for (const call of calls) {
      if (call === OUT_OF_REACH || kept.has(call) || (call >= first && call < begin)) continue;
      pulls.push({ from: call, to: call < begin ? first - 1 : call, by: place });
      if (call >= begin) kept.add(call);
      else first = call;
    }
  }
  return { places: places.toReversed(), pulls, lacksCalls };
}

const OUT_OF_REACH = -1;
const NO_CALLS: readonly number[] = [];

/** For each item, the indexes of the calls that it responds to. */
function callsNeeded(items: readonly ViewItem[], { from, isAll }: Reach): (readonly number[])[] {
  const calledAt = new Map<string, number>();
  return items.map(({ event }, place) => {
    if (place < from || !usesTools(event)) return NO_CALLS;
    const calls = callsNeededBy(event).map((key) => calledAt.get(key) ?? OUT_OF_REACH);
    const leaves = isAll && calls.includes(OUT_OF_REACH);
    if (!leaves) for (const key of callsIn(event)) calledAt.set(key, place);
    return calls;
  });
}

/** A fast check: it runs for each event of a view at each append, and most events use no tools. */
function usesTools({ content }: Event): boolean {
  return content?.parts?.some(({ functionCall, functionResponse }) => functionCall ?? functionResponse) ?? false;
}

/** The calls that the event responds to, except calls that it makes itself before the response. */
function callsNeededBy({ content }: Event): string[] {
  const made = new Set<string>();
  const needed: string[] = [];
  for (const { functionCall, functionResponse } of content?.parts ?? []) {
    if (functionCall) made.add(callKey(functionCall));
    if (functionResponse && !made.has(callKey(functionResponse))) needed.push(callKey(functionResponse));
  }
  return needed;
}

export function answeredCalls(event: Pick<Event, 'content'>): string[] {
  return getFunctionResponses(event).map(callKey);
}

export function callsIn(event: Event): string[] {
  return getFunctionCalls(event).map(callKey);
}

/** Calls of long-running tools. Their first response may only report progress. */
export function longRunningCallsIn(event: Pick<Event, 'content' | 'longRunningToolIds'>): string[] {
  const ids = new Set(event.longRunningToolIds ?? []);
  return getFunctionCalls(event)
    .filter(({ id }) => id !== undefined && ids.has(id))
    .map(callKey);
}

/**
 * The calls of long-running tools that none of these events answers: somebody else gives their results.
 *
 * @example const pending = waitingCalls(events).map(({ id }) => id);
 */
export function waitingCalls(events: readonly Pick<Event, 'content' | 'longRunningToolIds'>[]): FunctionCall[] {
  const open = new Set(events.flatMap(longRunningCallsIn));
  for (const key of events.flatMap(answeredCalls)) open.delete(key);
  return events.flatMap(getFunctionCalls).filter((call) => open.has(callKey(call)));
}

/** Calls and responses match by id or, without id, by the name of the tool. */
export function callKey({ id, name }: { id?: string; name?: string }): string {
  return id ? `id:${id}` : `name:${name ?? ''}`;
}
