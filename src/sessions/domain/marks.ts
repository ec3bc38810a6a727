import { type Counters, NO_COUNTS } from './counters.js';
import type { SeqRange } from './seq-ranges.js';

/**
 * What a reader does not see as it stands in the log: the stretches that were rewound, and the current
 * summary, which stands for every event up to `viewFromSeq`.
 */
export interface Marks {
  /** Never in a view: rewound stretches, each ending with the rewind itself, and summaries out of force. */
  readonly hidden: readonly SeqRange[];
  /** A view needs no event up to this one, but for the summary. */
  readonly viewFromSeq: number;
  /** The event that holds the current summary; 0 where there is none. */
  readonly summarySeq: number;
  /** What the events count that it stands for: the rest of the session's counters came since. */
  readonly covered: Counters;
}

export const NO_MARKS: Marks = Object.freeze({
  hidden: Object.freeze([]),
  viewFromSeq: 0,
  summarySeq: 0,
  covered: NO_COUNTS,
});

/** Stands for the `seq` of the event being appended, which only the store knows. */
export const OWN_SEQ = -1;

/** Puts the assigned `seq` in the place of {@link OWN_SEQ}. */
export function resolveMarks(marks: Marks, ownSeq: number): Marks {
  const resolved = (seq: number): number => (seq === OWN_SEQ ? ownSeq : seq);
  return {
    hidden: marks.hidden.map(({ from, to }) => ({ from: resolved(from), to: resolved(to) })),
    viewFromSeq: marks.viewFromSeq,
    summarySeq: resolved(marks.summarySeq),
    covered: marks.covered,
  };
}

/**
 * The marks after a summary up to `toSeq`. The summary that covers most is in force; the other is hidden.
 *
 * @param covered what the visible events count up to `toSeq`
 */
export function marksAfterSummary(marks: Marks, toSeq: number, covered: Counters, ownSeq: number = OWN_SEQ): Marks {
  if (toSeq < marks.viewFromSeq) return { ...marks, hidden: [...marks.hidden, { from: ownSeq, to: ownSeq }] };
  const outOfForce = marks.summarySeq === 0 ? [] : [{ from: marks.summarySeq, to: marks.summarySeq }];
  return {
    hidden: [...marks.hidden, ...outOfForce].filter(({ to }) => to === OWN_SEQ || to > toSeq),
    viewFromSeq: toSeq,
    summarySeq: ownSeq,
    covered,
  };
}

/** The marks after a rewind, given those that were in force when the kept event was the last one. */
export function marksAfterRewind(marksThen: Marks, toSeq: number, ownSeq: number): Marks {
  return { ...marksThen, hidden: [...marksThen.hidden, { from: toSeq + 1, to: ownSeq }] };
}
