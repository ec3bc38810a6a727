import { type Counters, NO_COUNTS } from './counters.js';
import { type SeqRange, rangesOutside } from '../values/seq-ranges.js';

/**
 * How the view differs from the log: the rewound ranges, and the current summary, which replaces every event up to
 * `viewFromSeq`.
 */
export interface ViewMarks {
  /** Never in a view: rewound ranges, each ending with the rewind itself, and superseded summaries. */
  readonly hidden: readonly SeqRange[];
  /** A view needs no event up to this one, except the summary. */
  readonly viewFromSeq: number;
  /** The event with the current summary; 0 if there is none. */
  readonly summarySeq: number;
  /** The counters of the summarised events. The rest of the session's counters came later. */
  readonly covered: Counters;
}

export const NO_MARKS: ViewMarks = Object.freeze({
  hidden: Object.freeze([]),
  viewFromSeq: 0,
  summarySeq: 0,
  covered: NO_COUNTS,
});

/** Placeholder for the `seq` of the event being appended, which only the store knows. */
export const OWN_SEQ = -1;

/** Replaces {@link OWN_SEQ} by the assigned `seq`. */
export function resolveMarks(marks: ViewMarks, ownSeq: number): ViewMarks {
  const resolved = (seq: number): number => (seq === OWN_SEQ ? ownSeq : seq);
  return {
    hidden: marks.hidden.map(({ from, to }) => ({ from: resolved(from), to: resolved(to) })),
    viewFromSeq: marks.viewFromSeq,
    summarySeq: resolved(marks.summarySeq),
    covered: marks.covered,
  };
}

/**
 * The marks after a summary up to `toSeq`. The summary that covers more events is current; the other is hidden.
 *
 * @param covered counters of the visible events up to `toSeq`
 */
export function marksAfterSummary(
  marks: ViewMarks,
  toSeq: number,
  covered: Counters,
  ownSeq: number = OWN_SEQ,
): ViewMarks {
  if (toSeq < marks.viewFromSeq) return { ...marks, hidden: [...marks.hidden, { from: ownSeq, to: ownSeq }] };
  const outOfForce = marks.summarySeq === 0 ? [] : [{ from: marks.summarySeq, to: marks.summarySeq }];
  return {
    hidden: [...marks.hidden, ...outOfForce].filter(({ to }) => to === OWN_SEQ || to > toSeq),
    viewFromSeq: toSeq,
    summarySeq: ownSeq,
    covered,
  };
}

/** The marks after a rewind. @param marksThen the marks when `toSeq` was the last event */
export function marksAfterRewind(marksThen: ViewMarks, toSeq: number, ownSeq: number): ViewMarks {
  return { ...marksThen, hidden: [...marksThen.hidden, { from: toSeq + 1, to: ownSeq }] };
}

/** The last summary or rewind; 0 if there is none. */
export function lastChangeOf({ hidden, summarySeq }: ViewMarks): number {
  return hidden.reduce((last, { to }) => Math.max(last, to), summarySeq);
}

/** What a record of a session says of its log. */
interface MarkedLog {
  readonly marks: ViewMarks;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/**
 * The visible ranges of the log: neither summarised nor rewound. Exact without reading events, since `seq` has no gaps.
 */
export function visibleRanges(record: MarkedLog): SeqRange[] {
  const { hidden, summarySeq, viewFromSeq } = record.marks;
  const whole = { from: Math.max(viewFromSeq + 1, record.firstSeq), to: record.lastSeq };
  return rangesOutside(whole, [...hidden, { from: summarySeq, to: summarySeq }]);
}
