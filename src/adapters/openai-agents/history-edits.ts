import type { AgentInputItem } from '@openai/agents-core';
import { isRewind, isSummary } from '../../adapter.js';
import type { EventInput, LoggedEvent } from '../../index.js';
import { type EventFrame, itemEvents, recordEvent, wholeItem } from './item-events.js';
import { type Entry, isReplacement, lastPieceOf } from './item-history.js';
import { ownRecordOf } from './item-records.js';
import type { HistoryChange, ReadHistory } from './session-history.js';

/** What becomes of entries: another item, or `undefined` for none. Other entries stay. */
export type Edits = ReadonlyMap<Entry, AgentInputItem | undefined>;

/**
 * Plans a change of the history: back to the event before the first edited one, and then what stays, with the edits.
 *
 * @param added events to append after it
 */
export function editedHistory(
  { events, entries }: Pick<ReadHistory, 'events' | 'entries'>,
  edits: Edits,
  frame: EventFrame,
  added: readonly EventInput[] = [],
): HistoryChange {
  if (edits.size === 0) return { events: added };
  const byEvent = new Map<LoggedEvent, Entry[]>();
  const completions = new Set<LoggedEvent>();
  for (const entry of entries) {
    byEvent.set(entry.event, [...(byEvent.get(entry.event) ?? []), entry]);
    if (entry.completion) completions.add(entry.completion);
  }
  const first = Math.min(...[...edits.keys()].map(({ event }) => event.seq));
  const last = lastPieceOf(events);
  const counting = last && ownRecordOf(last).replacement;
  const kept = events
    .filter((event) => event.seq >= first && !completions.has(event))
    // Pieces of other replacements say nothing, and may be more than a commit holds.
    .filter((event) => !isReplacement(event) || ownRecordOf(event).replacement === counting)
    .flatMap((event) => afterEdits(event, byEvent.get(event) ?? [], edits, frame));
  return { rewindTo: placeBefore(first, events, edits), events: [...kept, ...added] };
}

function placeBefore(first: number, events: readonly LoggedEvent[], edits: Edits): number | 'beginning' {
  // Before a summary are the events that it covers.
  if ([...edits.keys()].some(({ event }) => isSummary(event))) return 'beginning';
  // Not `first - 1`: ranges that are hidden already join what is hidden now.
  return events.reduce((last, { seq }) => (seq < first ? Math.max(last, seq) : last), 0) || first - 1;
}

function afterEdits(event: LoggedEvent, entries: readonly Entry[], edits: Edits, frame: EventFrame): EventInput[] {
  if (!entries.some((entry) => edits.has(entry))) return copiesOf(event, entries);
  const items = entries.flatMap((entry) => (edits.has(entry) ? (edits.get(entry) ?? []) : entry.item));
  if (!isReplacement(event)) return items.flatMap((item) => itemEvents(item, frame));
  const { item: _item, json: _json, links: _links, bytes: _bytes, ...marks } = ownRecordOf(event);
  if (items.length > 0) return items.map((item) => recordEvent({ ...wholeItem(item), ...marks }));
  // Without its last piece, the replacement would be no more, and what it replaced would be back.
  return marks.replaces === undefined && !marks.isFirst ? [] : [recordEvent(marks)];
}

/** The event once more, if it says anything. Its tokens are counted, and its changes of state have happened. */
function copiesOf(event: LoggedEvent, entries: readonly Entry[]): EventInput[] {
  const [entry] = entries;
  const isEmpty = !event.content?.parts?.length && Object.keys(ownRecordOf(event)).length === 0;
  // What a summary covers is back, since the summary came later.
  if (isRewind(event) || isSummary(event) || (isEmpty && !entry)) return [];
  return [event, ...(entry?.completion ? [entry.completion] : [])].map(
    ({ id: _id, seq: _seq, timestamp: _time, actions: _actions, usageMetadata: _usage, ...said }) => said,
  );
}
