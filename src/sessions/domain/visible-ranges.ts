import { type SeqRange, rangesOutside } from './seq-ranges.js';
import type { SessionRecord } from './session-record.js';

/**
 * The visible ranges of the log: neither summarised nor rewound. Exact without reading events, since `seq` has no gaps.
 */
export function visibleRanges(record: SessionRecord): SeqRange[] {
  const { hidden, summarySeq, viewFromSeq } = record.marks;
  const whole = { from: Math.max(viewFromSeq + 1, record.firstSeq), to: record.lastSeq };
  return rangesOutside(whole, [...hidden, { from: summarySeq, to: summarySeq }]);
}

/** The part of `ranges` below `seq`. */
export function rangesBelow(ranges: readonly SeqRange[], seq: number): SeqRange[] {
  return ranges.filter(({ from }) => from < seq).map(({ from, to }) => ({ from, to: Math.min(to, seq - 1) }));
}

/** The part of `ranges` above `seq`. */
export function rangesAbove(ranges: readonly SeqRange[], seq: number): SeqRange[] {
  return ranges.filter(({ to }) => to > seq).map(({ from, to }) => ({ from: Math.max(from, seq + 1), to }));
}
