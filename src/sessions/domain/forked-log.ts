import type { StoredEvent } from './commit.js';
import { isAnchor, isRewind, isSummary } from './event-inspection.js';
import type { InitialEvent, InitialLog } from './initial-log.js';
import { LogReplay } from './log-replay.js';
import type { Marks } from './marks.js';
import { isInRanges } from './seq-ranges.js';
import { stateDifference } from './state-difference.js';
import { StateFold } from './state-fold.js';
import { summaryIdOf } from './summary-id.js';
import { loggedEvent } from './logged-event.js';

/** An event on its way into the fork; its number there is known at the end. */
interface Copy {
  readonly stored: StoredEvent;
  /** What it becomes in the fork, given its number; missing where it stays as it is. */
  readonly become?: (seq: number) => object;
}

/** What a fork is created with. */
export interface Fork {
  readonly log: InitialLog;
  /** The session's own state before the first event of the fork, as JSON text. */
  readonly baseState: string;
  /** The session's own state after the last one. */
  readonly state: Record<string, unknown>;
}

/**
 * Gathers what a fork has of a log: the summary first, then what was visible at a moment. Give it every event that is
 * kept up to that moment, in order.
 *
 * The state of the fork is that of the source after each of its events. Where what was rewound in between left its
 * mark on the state, the rewind comes along: it takes nothing back there, and changes the state in their place.
 */
export class ForkedLog {
  readonly #copies: Copy[] = [];
  #summary: StoredEvent | undefined;
  /** The source's state after each event. */
  readonly #source: StateFold;
  /** What the events copied so far make of the base state; none before the first of them. */
  #fork: StateFold | undefined;
  #baseState: string;
  /** The last rewind since the event that was copied last. */
  #rewind: StoredEvent | undefined;

  /** @param marks those of the moment */
  constructor(
    baseState: string,
    private readonly marks: Marks,
  ) {
    this.#baseState = baseState;
    this.#source = new StateFold(baseState);
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

  finish(): Fork {
    this.#catchUp();
    const ids = new Set(this.#copies.map(({ stored }) => stored.id));
    return {
      log: initialLog([...(this.#summary ? [copyOfSummary(this.#summary, ids)] : []), ...this.#copies]),
      baseState: this.#baseState,
      state: this.#source.toRecord(),
    };
  }

  /** Makes the state of the fork that of the source, before the next event is copied. */
  #catchUp(): void {
    const rewind = this.#rewind;
    this.#rewind = undefined;
    if (!this.#fork) {
      this.#baseState = JSON.stringify(this.#source.toRecord());
      this.#fork = new StateFold(this.#baseState);
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

/** The events of the summary are not there: it stands for what was before the first one. */
function copyOfSummary(stored: StoredEvent, ids: ReadonlySet<string>): Copy {
  const event = loggedEvent(stored);
  const compaction = { ...event.actions.compaction, fromSeq: 0, toSeq: 0 };
  const isNamedByPlace = stored.id === summaryIdOf(event.actions.compaction?.toSeq ?? 0);
  // Under its old name it would be in the way of the fork's own summary up to that number.
  const id = isNamedByPlace && !ids.has(summaryIdOf(0)) ? summaryIdOf(0) : stored.id;
  return { stored, become: () => ({ ...event, id, seq: undefined, actions: { ...event.actions, compaction } }) };
}

function initialLog(copies: readonly Copy[]): InitialLog {
  const events: InitialEvent[] = [];
  const replay = new LogReplay();
  let [tipSeq, marksSeq, highWater] = [0, 0, 0];
  for (const { stored, become } of copies) {
    const seq = events.length + 1;
    const payload = become ? JSON.stringify(become(seq)) : stored.payload;
    const event = loggedEvent({ payload, seq });
    replay.add(event);
    if (!isSummary(event)) tipSeq = seq;
    if (isSummary(event) || isRewind(event)) marksSeq = seq;
    highWater = Math.max(highWater, event.timestamp, stored.appendedAt);
    const { id, timestamp } = event;
    const { digest, appendedAt } = stored;
    events.push({ id, digest, timestamp, anchor: isAnchor(event), payload: payload ?? '', appendedAt, highWater });
  }
  return { events, tipSeq, counters: replay.countsAt(events.length), marks: replay.marksAt(events.length), marksSeq };
}
