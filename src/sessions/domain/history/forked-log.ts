import type { StoredEvent } from '../stored/commit.js';
import type { BranchSummary, LoggedEvent } from '../event/event.js';
import { isAnchor, isAnySummary, isRewind, isSummary } from '../event/event-inspection.js';
import { summaryIdOf } from '../values/ids.js';
import type { InitialEvent, InitialLog } from '../stored/session-record.js';
import { toEventGroup } from '../event/event-group.js';
import { LogReplay } from './log-replay.js';
import { type ModelRequest, hashesIn, renumberedRequest } from '../event/model-request.js';
import { type SeqRange, isInRanges } from '../values/seq-ranges.js';
import { stateDifference, StateFold } from './state-history.js';
import { loggedEvent } from '../stored/stored-json.js';
import type { ViewMarks } from '../stored/view-marks.js';

/** An event to copy into the fork. Its `seq` there is assigned at the end. */
interface Copy {
  readonly stored: StoredEvent;
  /** Makes the fork's version of the event from its new `seq`. Missing for events that are copied unchanged. */
  readonly become?: (seq: number) => object;
}

/** The data with which a fork is created. */
export interface Fork {
  readonly log: InitialLog;
  /** The session's own state before the first event of the fork, as JSON text. */
  readonly baseState: string;
  /** The session's own state after the last one. */
  readonly state: Record<string, unknown>;
  /** Of the texts that model requests among its events name. */
  readonly textHashes: ReadonlySet<string>;
}

/**
 * Collects the log of a fork: the summary first, then the events that were visible at a moment. Add or
 * skip every retained event up to that moment, in order.
 *
 * After each of its events, the fork has the state that the source had. If rewound events changed the state, the fork
 * gets the rewind too: there it hides nothing and only applies the state change.
 */
export class ForkedLog {
  readonly #copies: Copy[] = [];
  #summary: StoredEvent | undefined;
  /** The source's state after each event. */
  #source: StateFold;
  /** The base state with the events copied so far applied; undefined before the first copy. */
  #fork: StateFold | undefined;
  #baseState = '{}';
  /** The last rewind since the last copied event. */
  #rewind: StoredEvent | undefined;

  /**
   * @param state the source's state before the first event to add
   * @param marks the marks at that moment
   */
  constructor(
    state: StateFold,
    private readonly marks: ViewMarks,
  ) {
    this.#source = state;
  }

  /** Whether a rewind since the last copy matters. */
  get hasCopies(): boolean {
    return this.#fork !== undefined;
  }

  /**
   * Instead of adding events that are not copied.
   *
   * @param state after them
   * @param rewind the last rewind among them
   */
  skip(state: StateFold, rewind: StoredEvent | undefined): void {
    this.#source = state;
    this.#rewind = rewind ?? this.#rewind;
  }

  add(stored: StoredEvent): void {
    const event = loggedEvent(stored);
    const { hidden, viewFromSeq, summarySeq } = this.marks;
    if (stored.seq === summarySeq) {
      this.#summary = stored;
    } else if (stored.seq > viewFromSeq && !isInRanges(stored.seq, hidden)) {
      this.#catchUp();
      this.#copies.push({ stored });
      this.#fork?.add(event);
    } else if (isRewind(event)) {
      this.#rewind = stored;
    }
    this.#source.add(event);
  }

  /** @param lastAfter an event of the fork's own, if the state is not to be what the source had */
  finish(lastAfter: (state: Record<string, unknown>) => StoredEvent | undefined): Fork {
    this.#catchUp();
    const last = lastAfter(this.#source.toRecord());
    if (last) {
      this.#copies.push({ stored: last });
      this.#source.add(loggedEvent(last));
    }
    const ids = new Set(this.#copies.map(({ stored }) => stored.id));
    return {
      ...initialLog([...(this.#summary ? [copyOfSummary(this.#summary, ids)] : []), ...this.#copies]),
      baseState: this.#baseState,
      state: this.#source.toRecord(),
    };
  }

  /** Brings the fork's state in line with the source before the next copy. */
  #catchUp(): void {
    const rewind = this.#rewind;
    this.#rewind = undefined;
    if (!this.#fork) {
      const state = this.#source.toRecord();
      this.#baseState = JSON.stringify(state);
      this.#fork = new StateFold(state);
      return;
    }
    if (!rewind) return;
    const { stateDelta, stateRemovals } = stateDifference(this.#fork.toRecord(), this.#source.toRecord());
    if (Object.keys(stateDelta).length + stateRemovals.length === 0) return;
    const changes = stateRemovals.length > 0 ? { stateDelta, stateRemovals: [...stateRemovals] } : { stateDelta };
    const event = loggedEvent(rewind);
    const become = (seq: number): object => ({
      ...event,
      seq: undefined,
      actions: { rewind: { toSeq: seq - 1 }, ...changes },
    });
    this.#copies.push({ stored: rewind, become });
    this.#fork.add(loggedEvent({ seq: rewind.seq, payload: JSON.stringify(become(rewind.seq)) }));
  }
}

/** The fork lacks the summarised events, so the summary covers what was before its first event. */
function copyOfSummary(stored: StoredEvent, ids: ReadonlySet<string>): Copy {
  const event = loggedEvent(stored);
  const compaction = { ...event.actions.compaction, fromSeq: 0, toSeq: 0 };
  const isNamedByPlace = stored.id === summaryIdOf(event.actions.compaction?.toSeq ?? 0);
  // The old id would collide with the fork's own summary up to that seq.
  const id = isNamedByPlace && !ids.has(summaryIdOf(0)) ? summaryIdOf(0) : stored.id;
  return { stored, become: () => ({ ...event, id, seq: undefined, actions: { ...event.actions, compaction } }) };
}

/** Where the events of the source are in the fork, by their numbers in the source. */
function stretchesOf(copies: readonly Copy[]): readonly (SeqRange & { readonly shift: number })[] {
  const stretches: { from: number; to: number; shift: number }[] = [];
  for (const [index, { stored }] of copies.entries()) {
    const last = stretches.at(-1);
    const shift = index + 1 - stored.seq;
    if (last?.shift === shift) last.to = stored.seq;
    else stretches.push({ from: stored.seq, to: stored.seq, shift });
  }
  return stretches.toSorted((a, b) => a.from - b.from);
}

/** The last event of the fork that was not after this one in the source; 0 if the fork has none. */
function placeIn(copies: readonly Copy[], seq: number): number {
  return copies.findLastIndex(({ stored }) => stored.seq <= seq) + 1;
}

/** A summary of a branch covers what the fork has of the events that it covers. `readToSeq` says only when it was written. */
function summaryIn(copies: readonly Copy[], { seq: _seq, ...event }: LoggedEvent, summary: BranchSummary): string {
  const { readToSeq: _readTo, ...rest } = summary;
  const [fromSeq, toSeq] = [placeIn(copies, summary.fromSeq), placeIn(copies, summary.toSeq)];
  return JSON.stringify({ ...event, actions: { ...event.actions, branchSummary: { ...rest, fromSeq, toSeq } } });
}

/** What a model was given has other numbers in the fork, which may not have all of it. */
function renumbered(
  { seq: _seq, ...event }: LoggedEvent,
  request: ModelRequest,
  stretches: ReturnType<typeof stretchesOf>,
): string {
  return JSON.stringify({ ...event, modelRequest: renumberedRequest(request, stretches) });
}

/** What names other events has their numbers in the fork. Undefined for an event that names none. */
function textInFork(
  event: LoggedEvent,
  copies: readonly Copy[],
  stretches: ReturnType<typeof stretchesOf>,
): string | undefined {
  const { branchSummary } = event.actions;
  if (branchSummary) return summaryIn(copies, event, branchSummary);
  return event.modelRequest && renumbered(event, event.modelRequest, stretches);
}

function initialLog(copies: readonly Copy[]): Pick<Fork, 'log' | 'textHashes'> {
  const textHashes = new Set<string>();
  const events: InitialEvent[] = [];
  const stretches = stretchesOf(copies);
  const replay = new LogReplay();
  let [tipSeq, marksSeq, highWater] = [0, 0, 0];
  for (const { stored, become } of copies) {
    const seq = events.length + 1;
    const copied = become ? JSON.stringify(become(seq)) : stored.payload;
    const event = loggedEvent({ payload: copied, seq });
    for (const hash of hashesIn(event.modelRequest)) textHashes.add(hash);
    replay.add(event);
    if (!isAnySummary(event)) tipSeq = seq;
    if (isSummary(event) || isRewind(event)) marksSeq = seq;
    highWater = Math.max(highWater, event.timestamp, stored.appendedAt);
    const { id, timestamp } = event;
    const { appendedAt } = stored;
    events.push({
      id,
      timestamp,
      anchor: isAnchor(event),
      group: toEventGroup(event),
      payload: textInFork(event, copies, stretches) ?? copied ?? '',
      appendedAt,
      highWater,
    });
  }
  const [counters, marks] = [replay.countsAt(events.length), replay.marksAt(events.length)];
  return { log: { events, tipSeq, counters, marks, marksSeq }, textHashes };
}
