import { getFunctionCalls, getFunctionResponses } from './event-inspection.js';
import type { Event, LoggedEvent } from './event.js';
import type { ViewItem } from './view-item.js';

/** How far back a cut may move to keep a tool's answer with its call. */
export const MAX_PULL_BACK = 20;

/**
 * A model refuses the answer of a tool whose call it does not see. So a tail that begins with answers is
 * pulled back to their calls; answers whose calls are too far away are left out.
 *
 * @param items the conversation that `tail` is the end of
 */
export function withCallsOfFirstResponses(tail: readonly ViewItem[], items: readonly ViewItem[]): readonly ViewItem[] {
  const [head, ...rest] = tail;
  const missing = callsMissingInFront(tail);
  if (!head || missing.length === 0) return tail;
  const between = itemsFromCalls(missing, items.slice(0, items.indexOf(head)));
  if (between) return [...between, ...tail];
  const withoutHead = items.filter((item) => item !== head);
  return withCallsOfFirstResponses(rest, withoutHead);
}

/** Which calls the first event of `tail` answers. Calls come before their answers, so it has none of them. */
export function callsMissingInFront([head]: readonly ViewItem[]): string[] {
  return head ? answeredCalls(head.event) : [];
}

/** Which calls the answers in `events` belong to that are not among the events before them. */
export function callsMissingIn(events: readonly Event[]): ReadonlySet<string> {
  const made = new Set<string>();
  const missing = new Set<string>();
  for (const event of events) {
    for (const key of answeredCalls(event)) if (!made.has(key)) missing.add(key);
    for (const key of callsIn(event)) made.add(key);
  }
  return missing;
}

/** Where to find calls: goes through a log once, and knows the last place of each call that is wanted. */
export class CallSearch {
  readonly #places = new Map<string, number>();

  constructor(private readonly wanted: ReadonlySet<string>) {}

  add(event: LoggedEvent): void {
    for (const key of callsIn(event)) if (this.wanted.has(key)) this.#places.set(key, event.seq);
  }

  /** Of the oldest of the calls. */
  get firstSeq(): number | undefined {
    return this.#places.size > 0 ? Math.min(...this.#places.values()) : undefined;
  }
}

/** The end of `before` from the oldest of the wanted calls on, if all of them are near enough. */
function itemsFromCalls(wanted: readonly string[], before: readonly ViewItem[]): readonly ViewItem[] | undefined {
  const near = before.slice(-MAX_PULL_BACK);
  const places = wanted.map((key) => near.findLastIndex((item) => callsIn(item.event).includes(key)));
  return places.includes(-1) ? undefined : near.slice(Math.min(...places));
}

export function answeredCalls(event: Event): string[] {
  return getFunctionResponses(event).map(callKey);
}

export function callsIn(event: Event): string[] {
  return getFunctionCalls(event).map(callKey);
}

/** Calls whose tools answer when they are done, perhaps much later; the first answer may only say that they are at it. */
export function longRunningCallsIn(event: Event): string[] {
  const ids = new Set(event.longRunningToolIds ?? []);
  return getFunctionCalls(event)
    .filter(({ id }) => id !== undefined && ids.has(id))
    .map(callKey);
}

/** Calls and answers find each other by id, or, where there is none, by the name of the tool. */
function callKey({ id, name }: { id?: string; name?: string }): string {
  return id ? `id:${id}` : `name:${name ?? ''}`;
}
