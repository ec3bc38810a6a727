/** A stretch of the log, both ends included. */
export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

export function isInRanges(seq: number, ranges: readonly SeqRange[]): boolean {
  return ranges.some(({ from, to }) => seq >= from && seq <= to);
}

/** What is left of `from` … `to` outside `holes`, in order. */
export function rangesOutside(whole: SeqRange, holes: readonly SeqRange[]): SeqRange[] {
  const left: SeqRange[] = [];
  let next = whole.from;
  for (const hole of holes.toSorted((a, b) => a.from - b.from)) {
    if (hole.from > whole.to) break;
    if (hole.from > next) left.push({ from: next, to: hole.from - 1 });
    next = Math.max(next, hole.to + 1);
  }
  if (next <= whole.to) left.push({ from: next, to: whole.to });
  return left;
}

/** The newest `count` numbers of `ranges`. */
export function newestOf(ranges: readonly SeqRange[], count: number): SeqRange[] {
  const kept: SeqRange[] = [];
  let missing = count;
  for (const { from, to } of ranges.toReversed()) {
    if (missing <= 0) break;
    const start = Math.max(from, to - missing + 1);
    kept.unshift({ from: start, to });
    missing -= to - start + 1;
  }
  return kept;
}

/** The oldest `count` numbers of `ranges`. */
export function oldestOf(ranges: readonly SeqRange[], count: number): SeqRange[] {
  const kept: SeqRange[] = [];
  let missing = count;
  for (const { from, to } of ranges) {
    if (missing <= 0) break;
    const end = Math.min(to, from + missing - 1);
    kept.push({ from, to: end });
    missing -= end - from + 1;
  }
  return kept;
}

/** How many numbers there are in `ranges`. */
export function countOf(ranges: readonly SeqRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}
