import { getFunctionCalls, getFunctionResponses } from './event-inspection.js';
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
  return head ? getFunctionResponses(head.event).map(callKey) : [];
}

/** The end of `before` from the oldest of the wanted calls on, if all of them are near enough. */
function itemsFromCalls(wanted: readonly string[], before: readonly ViewItem[]): readonly ViewItem[] | undefined {
  const near = before.slice(-MAX_PULL_BACK);
  const places = wanted.map((key) => near.findLastIndex((item) => callsOf(item).includes(key)));
  return places.includes(-1) ? undefined : near.slice(Math.min(...places));
}

function callsOf({ event }: ViewItem): string[] {
  return getFunctionCalls(event).map(callKey);
}

/** Calls and answers find each other by id, or, where there is none, by the name of the tool. */
function callKey({ id, name }: { id?: string; name?: string }): string {
  return id ? `id:${id}` : `name:${name ?? ''}`;
}
