import { type Counters, addCounters, countEvent, subtractCounters } from '../stored/counters.js';
import type { LoggedEvent } from '../event/event.js';
import { type SeqRange, isInRanges } from '../values/seq-ranges.js';
import { type ViewMarks, marksAfterRewind, marksAfterSummary } from '../stored/view-marks.js';

/** Marks and counters of a session after an event. */
export interface Moment {
  readonly seq: number;
  readonly marks: ViewMarks;
  /** Of all events that were not rewound, including trimmed ones. */
  readonly counters: Counters;
}

/** The part of an event that a replay needs. */
export interface LogStep {
  readonly seq: number;
  readonly rewindTo?: number | undefined;
  readonly summaryTo?: number | undefined;
  readonly counts: Counters;
}

export function logStep(event: LoggedEvent): LogStep {
  const { compaction, rewind } = event.actions;
  return { seq: event.seq, rewindTo: rewind?.toSeq, summaryTo: compaction?.toSeq, counts: countEvent(event) };
}

/** The events that lead to a moment, without the rewound ones. */
export interface LivePath {
  /** The event before the first step. It may be earlier than the known steps, if a rewind leads there. */
  readonly from: number;
  /** In ascending order. */
  readonly steps: readonly LogStep[];
}

/**
 * Finds the path to an event, from the end to the beginning, without rewound events.
 *
 * @param known all events after `start`, up to `seq`
 */
export function livePath(known: ReadonlyMap<number, LogStep>, seq: number, start: number): LivePath {
  const steps: LogStep[] = [];
  let from = seq;
  while (from > start) {
    const step = known.get(from);
    if (!step) throw new Error(`Event ${from} is missing in a replay`);
    steps.push(step);
    from = step.rewindTo ?? from - 1;
  }
  return { from, steps: steps.toReversed() };
}

/**
 * The moment at the end of a path, which begins after `start`. If a summary of the path is current,
 * {@link uncoveredRange} has to be subtracted from its covered counters.
 */
export function momentAfter(start: Moment, steps: readonly LogStep[]): Moment {
  let { seq, marks, counters } = start;
  for (const step of steps) {
    seq = step.seq;
    if (step.rewindTo !== undefined) marks = marksAfterRewind(marks, step.rewindTo, seq);
    else if (step.summaryTo !== undefined) marks = marksAfterSummary(marks, step.summaryTo, counters, seq);
    else counters = addCounters(counters, step.counts);
  }
  return { seq, marks, counters };
}

/** The events before the current summary that it does not cover, if the summary is new since `start`. */
export function uncoveredRange(start: Moment, { marks }: Moment): SeqRange | undefined {
  const { summarySeq, viewFromSeq } = marks;
  return summarySeq === start.marks.summarySeq ? undefined : { from: viewFromSeq + 1, to: summarySeq - 1 };
}

/** Subtracts the events of {@link uncoveredRange}. */
export function withoutUncovered(moment: Moment, uncovered: readonly LogStep[]): Moment {
  const { marks } = moment;
  const covered = uncovered
    .filter(({ seq }) => !isInRanges(seq, marks.hidden))
    .reduce((left, { counts }) => subtractCounters(left, counts), marks.covered);
  return { ...moment, marks: { ...marks, covered } };
}
