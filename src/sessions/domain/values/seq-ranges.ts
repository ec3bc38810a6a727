/** A range of the log, both ends included. */
export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

export function isInRanges(seq: number, ranges: readonly SeqRange[]): boolean {
  return ranges.some(({ from, to }) => seq >= from && seq <= to);
}

/** The parts of `whole` outside `holes`, in ascending order. */
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

/** How many numbers `ranges` contain. */
export function countSeqNumbers(ranges: readonly SeqRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/** The events after one `seq`, up to and including another. */
interface OpenRange {
  readonly after: number;
  readonly to: number;
}

/** A set of `seq` numbers, stored as ranges. Gaps may never be filled. */
export class SeqSet {
  /** Ascending and disjoint. */
  #stretches: OpenRange[] = [];

  get isEmpty(): boolean {
    return this.#stretches.length === 0;
  }

  has(seq: number): boolean {
    return this.#stretches.some(({ after, to }) => seq > after && seq <= to);
  }

  add(after: number, to: number): void {
    const last = this.#stretches.at(-1);
    if (!last || after > last.to) this.#stretches.push({ after, to });
    else if (after >= last.after) this.#stretches.splice(-1, 1, { after: last.after, to: Math.max(last.to, to) });
    else this.#stretches = mergeOverlapping([...this.#stretches, { after, to }]);
  }

  /** The end of the contiguous numbers that follow `seq`. Removes them from the set. */
  endOfRunFrom(seq: number): number {
    let reach = seq;
    while (this.#stretches[0] && this.#stretches[0].after <= reach) {
      reach = Math.max(reach, this.#stretches[0].to);
      this.#stretches.shift();
    }
    return reach;
  }

  removeUpTo(seq: number): void {
    while (this.#stretches[0] && this.#stretches[0].to <= seq) this.#stretches.shift();
  }
}

function mergeOverlapping(stretches: readonly OpenRange[]): OpenRange[] {
  const apart: OpenRange[] = [];
  for (const next of stretches.toSorted((a, b) => a.after - b.after)) {
    const last = apart.at(-1);
    if (!last || next.after > last.to) apart.push(next);
    else apart.splice(-1, 1, { after: last.after, to: Math.max(last.to, next.to) });
  }
  return apart;
}

/** The part of `ranges` below `seq`. */
export function rangesBelow(ranges: readonly SeqRange[], seq: number): SeqRange[] {
  return ranges.filter(({ from }) => from < seq).map(({ from, to }) => ({ from, to: Math.min(to, seq - 1) }));
}

/** The part of `ranges` above `seq`. */
export function rangesAbove(ranges: readonly SeqRange[], seq: number): SeqRange[] {
  return ranges.filter(({ to }) => to > seq).map(({ from, to }) => ({ from: Math.max(from, seq + 1), to }));
}
