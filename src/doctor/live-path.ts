import { type Counters, NO_COUNTS, addCounters, countEvent } from '../sessions/domain/stored/counters.js';
import type { LoggedEvent } from '../sessions/domain/event/event.js';
import { type LogStep, momentAfter } from '../sessions/domain/history/moment.js';
import { type SeqRange, isInRanges } from '../sessions/domain/values/seq-ranges.js';
import { NO_MARKS, type ViewMarks } from '../sessions/domain/stored/view-marks.js';
import { ToolCheck } from './tool-check.js';

/** The summaries and rewinds of a log: all that decides which of its events count. */
export type Control = Pick<LogStep, 'seq' | 'rewindTo' | 'summaryTo'>;

/** The ranges of a log that are not rewound, ascending. A rewind itself is in one. */
export function livePathOf(controls: readonly Control[], log: SeqRange): SeqRange[] {
  const ranges: SeqRange[] = [];
  let { to } = log;
  for (const { seq, rewindTo } of controls.toReversed()) {
    if (rewindTo === undefined || seq > to) continue;
    ranges.push({ from: seq, to });
    to = rewindTo;
  }
  if (to >= log.from) ranges.push({ from: log.from, to });
  return ranges.toReversed();
}

/** The marks after a whole log, without the counters of what its summary covers. */
export function computeViewMarks(controls: readonly Control[], path: readonly SeqRange[]): ViewMarks {
  const steps = controls
    .filter(({ seq }) => isInRanges(seq, path))
    .map((control) => ({ ...control, counts: NO_COUNTS }));
  return momentAfter({ seq: 0, marks: NO_MARKS, counters: NO_COUNTS }, steps).marks;
}

/** Marks in an order of their own, without what was trimmed, to compare them. */
export function comparableMarks(marks: ViewMarks): string {
  const { hidden, viewFromSeq, summarySeq, covered } = marks;
  const sorted = hidden.toSorted((a, b) => a.from - b.from || a.to - b.to).map(({ from, to }) => [from, to]);
  return JSON.stringify([sorted, viewFromSeq, summarySeq, summarySeq === 0 ? NO_COUNTS : { ...NO_COUNTS, ...covered }]);
}

/** What the events that are not rewound add up to. Add them in order. */
export class LiveSums {
  counters: Counters = NO_COUNTS;
  /** Of the events up to the one that the current summary covers last. */
  covered: Counters = NO_COUNTS;
  readonly tools: ToolCheck;

  /**
   * @param viewFromSeq the last event that the current summary covers
   * @param isWhole whether the log begins with its first event
   */
  constructor(
    private readonly viewFromSeq: number,
    isWhole: boolean,
  ) {
    this.tools = new ToolCheck(isWhole);
  }

  add(event: LoggedEvent): void {
    this.counters = addCounters(this.counters, countEvent(event));
    if (event.seq <= this.viewFromSeq) this.covered = this.counters;
    this.tools.add(event);
  }
}
