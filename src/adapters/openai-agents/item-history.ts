import type { AgentInputItem } from '@openai/agents-core';
import { isByUser, isSummary, visibleEvent } from '../../adapter.js';
import type { LoggedEvent } from '../../index.js';
import { EventReader } from './event-items.js';
import { ownRecordOf, revivedItem } from './item-records.js';

/** An item of the history, and the events that say it. */
export interface Entry {
  readonly item: AgentInputItem;
  readonly event: LoggedEvent;
  /** The event that completes it, if it takes two. */
  readonly completion?: LoggedEvent;
}

/** The items that newest events of a view say. */
export interface ItemHistory {
  readonly entries: readonly Entry[];
  /** How many of the newest entries are certain, however many older events there are. */
  readonly certain: number;
}

/** The items of the newest events of a view, oldest first. */
export function itemHistory(events: readonly LoggedEvent[]): ItemHistory {
  const last = lastPieceOf(events);
  if (!last) {
    // Pieces without the last one are of a replacement that is being made, or was given up.
    const entries = toItemEntries(events.filter((event) => !isReplacement(event)));
    return { entries, certain: entries.length };
  }
  const { replaces, replacement } = ownRecordOf(last);
  const own = events.filter((event) => ownRecordOf(event).replacement === replacement);
  const place = events.indexOf(last);
  const after = toItemEntries(events.slice(place).filter((event) => !isReplacement(event)));
  const replaced = events.find(({ id }) => id === replaces);
  const replacedSeq = replaced?.seq ?? readVersionOf(last);
  const before = events.slice(0, place).filter((event) => !isReplacement(event) && !isSummary(event));
  // Others wrote these while the replacement was made.
  const between = before.filter(({ seq }) => seq > replacedSeq);
  const isWhole = replaced !== undefined || isBegun(own, replacedSeq);
  const older = isWhole ? [] : before.filter(({ seq }) => seq <= replacedSeq);
  const entries = [...toItemEntries(older), ...toItemEntries(own), ...toItemEntries(between), ...after];
  return { entries, certain: replaced ? entries.length : after.length };
}

/** Up to which event the view was read; 0 for a history that was empty. */
function readVersionOf(last: LoggedEvent): number {
  const { replaces, readVersion } = ownRecordOf(last);
  return replaces !== '' && typeof readVersion === 'number' ? readVersion : 0;
}

/**
 * Whether the view has the beginning of a replacement. If not, the message that stands in front of the view stays in front. So it does
 * in a fork, whose numbers are others: nobody can tell what came later.
 */
function isBegun([first]: readonly LoggedEvent[], readVersion: number): boolean {
  return first !== undefined && ownRecordOf(first).isFirst === true && first.seq > readVersion;
}

/** The event that completes the replacement of the history which counts, if there is one. */
export function lastPieceOf(events: readonly LoggedEvent[]): LoggedEvent | undefined {
  return events.findLast((event) => isReplacement(event) && typeof ownRecordOf(event).replaces === 'string');
}

/** Whether the event belongs to a replacement of the history. */
export function isReplacement(event: LoggedEvent): boolean {
  return typeof ownRecordOf(event).replacement === 'string';
}

function toItemEntries(events: readonly LoggedEvent[]): Entry[] {
  const reader = new EventReader();
  const entries: Entry[] = [];
  let before: LoggedEvent | undefined;
  for (const event of events) {
    const said = visibleEvent(event);
    if (!said) continue;
    const completed = before && completedEntry(before, event);
    if (completed) {
      while (entries.at(-1)?.event === before) entries.pop();
      entries.push(completed);
    } else {
      for (const item of reader.itemsOf(said)) entries.push({ item, event });
    }
    before = event;
  }
  return entries;
}

/** What the event before says, together with what it cannot say by itself. */
function completedEntry(before: LoggedEvent, event: LoggedEvent): Entry | undefined {
  const record = ownRecordOf(event);
  if (!record.isOfPrevious || before.seq !== event.seq - 1 || !isByUser(before)) return undefined;
  const item = revivedItem(record, before.content?.parts ?? []) as AgentInputItem | undefined;
  return item && { item, event: before, completion: event };
}
