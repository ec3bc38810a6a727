import { isDeepStrictEqual } from 'node:util';
import { type Entry, isRewind, isSummary } from './entries.js';
import { wholeView } from './moments.js';
import { factOf, forkedFact } from './requests.js';
import { type Changes, type StateMap, apply, only, storedChangesOf } from './state.js';
import { contentText } from './submission.js';

/** The initial state and the log of a fork. */
export interface ModelFork {
  readonly initial: Changes;
  readonly log: Entry[];
}

/** The fork of a log: the view at its end, as a new log. */
export function forkOf(initial: Changes, source: readonly Entry[]): ModelFork {
  const view = wholeView(source);
  const visible = view.filter((entry) => !isSummary(entry));
  const summary = view.find(isSummary);
  const log: Entry[] = summary ? [coveringNothing(summary, visible)] : [];
  /** Where each entry was. */
  const origins: number[] = summary ? [summary.seq] : [];
  const base = stateBefore(initial, source, visible[0]);
  const state = new Map(base);
  for (const [index, entry] of [...visible, undefined].entries()) {
    const rewind = lastRewindBefore(source, entry);
    if (index > 0) appendStateChange(log, state, stateBefore(initial, source, entry), rewind);
    if (rewind && log.length > origins.length) origins.push(rewind.seq);
    if (!entry) break;
    log.push({ ...entry, seq: log.length + 1 });
    origins.push(entry.seq);
    apply(state, only(storedChangesOf(entry.event.actions), 'session'));
  }
  const places = new Map(origins.map((seq, index) => [seq, index + 1]));
  return { initial: { set: [...base], removed: [] }, log: log.map((entry) => withFact(entry, places)) };
}

/** What a model was given has other numbers in the fork. */
function withFact(entry: Entry, places: ReadonlyMap<number, number>): Entry {
  const fact = factOf(entry.event);
  if (!fact) return entry;
  const event = { ...entry.event, modelRequest: forkedFact(fact, places) };
  return { ...entry, event, submitted: contentText(event) };
}

/** The session's own state right before an entry, or at the end. */
function stateBefore(initial: Changes, log: readonly Entry[], end: Entry | undefined): StateMap {
  const state: StateMap = new Map();
  apply(state, only(initial, 'session'));
  for (const entry of log) {
    if (entry === end) break;
    apply(state, only(storedChangesOf(entry.event.actions), 'session'));
  }
  return state;
}

function lastRewindBefore(log: readonly Entry[], end: Entry | undefined): Entry | undefined {
  return log.slice(0, end ? log.indexOf(end) : log.length).findLast(isRewind);
}

/** If the state changed between two visible events because of a rewind, the fork gets a copy of that rewind. */
function appendStateChange(log: Entry[], state: StateMap, wanted: StateMap, rewind: Entry | undefined): void {
  const isOther = ([key, value]: [string, unknown]): boolean => !state.has(key) || !isSame(state.get(key), value);
  const set = [...wanted].filter(isOther).sort(([a], [b]) => (a < b ? -1 : 1));
  const removed = [...state.keys()].filter((key) => !wanted.has(key)).sort();
  if (!rewind || set.length + removed.length === 0) return;
  const seq = log.length + 1;
  const stateDelta = Object.fromEntries(set);
  const actions = { stateDelta, ...(removed.length > 0 && { stateRemovals: removed }), rewind: { toSeq: seq - 1 } };
  const event = { ...rewind.event, actions };
  log.push({ ...rewind, seq, event, submitted: contentText(event) });
  apply(state, { set, removed });
}

function coveringNothing(summary: Entry, visible: readonly Entry[]): Entry {
  const { event } = summary;
  const { toSeq } = event.actions?.compaction ?? { toSeq: 0 };
  const isTaken = visible.some((entry) => entry.event.id === 'summary:0');
  const id = event.id === `summary:${toSeq}` && !isTaken ? 'summary:0' : event.id;
  const actions = { ...event.actions, compaction: { ...event.actions?.compaction, fromSeq: 0, toSeq: 0 } };
  const copy = { ...event, id, actions };
  return { ...summary, seq: 1, event: copy, submitted: contentText(copy) };
}

/** Compares as JSON: key order does not matter, and an empty list differs from an empty object. */
function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(asJson(one), asJson(other));
}

function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
