import type { SeqPair } from '../../src/sessions/domain/event/model-request.js';
import type { ModelRequestReport } from '../../src/sessions/domain/event/request-report.js';
import { type SeqRange, isInRanges } from '../../src/sessions/domain/values/seq-ranges.js';
import type { ExplainedEvent } from '../../src/sessions/operations/explain-view.js';
import { decisionText } from './explained-events.js';

/** What an event is for a request. */
export type RequestMark = 'same' | 'added' | 'given' | 'removed' | 'left' | 'answer';

/** What a mark says in the timeline. */
export const MARK_TEXTS: Readonly<Record<RequestMark, string>> = {
  same: 'given as before',
  added: 'given, new',
  given: 'given',
  removed: 'not given any more',
  left: 'not given',
  answer: 'the answer',
};

/** What each event of a log is for one request; nothing for those that came after the answer. */
export class RequestMarks {
  readonly #same: readonly SeqRange[];
  readonly #given: readonly SeqRange[];
  readonly #added: readonly SeqRange[];
  readonly #removed: readonly SeqRange[];

  constructor(private readonly report: Pick<ModelRequestReport, 'seq' | 'given' | 'change'>) {
    const { given, change } = report;
    this.#given = rangesOfPairs(given);
    this.#same = rangesOfPairs(commonBeginning(given, change?.stableUntilSeq ?? 0));
    this.#added = rangesOfPairs(change?.added ?? []);
    this.#removed = rangesOfPairs(change?.removed ?? []);
  }

  at(seq: number): RequestMark | undefined {
    if (seq === this.report.seq) return 'answer';
    if (isInRanges(seq, this.#same)) return 'same';
    if (isInRanges(seq, this.#added)) return 'added';
    if (isInRanges(seq, this.#given)) return 'given';
    if (isInRanges(seq, this.#removed)) return 'removed';
    return seq < this.report.seq ? 'left' : undefined;
  }
}

/** The first of these ranges, in the order in which they were given, up to this event. */
export function commonBeginning(given: readonly SeqPair[], untilSeq: number): SeqPair[] {
  const end = given.findIndex(([from, to]) => from <= untilSeq && untilSeq <= to);
  return given.slice(0, end + 1).map(([from, to], index) => [from, index === end ? untilSeq : to]);
}

/** How many events these are. */
export function countEvents(pairs: readonly SeqPair[]): number {
  return pairs.reduce((sum, [from, to]) => sum + to - from + 1, 0);
}

/** Neighbours that were not given for the same reason. */
export interface LeftOut extends SeqRange {
  readonly why: string;
}

/**
 * Why events of the log were not given. In a copy, the reasons are those of a later view: one that a later event decides says nothing of
 * this request.
 *
 * @param events of the log before the answer, in its order
 */
export function leftOutOf(
  { seq: answer, given }: Pick<ModelRequestReport, 'seq' | 'given'>,
  events: readonly Pick<ExplainedEvent, 'seq' | 'inView' | 'reason' | 'by'>[],
): LeftOut[] {
  const ranges = rangesOfPairs(given);
  const runs: LeftOut[] = [];
  for (const event of events) {
    const { seq } = event;
    if (isInRanges(seq, ranges) || seq >= answer) continue;
    const why = whyLeftOut(answer, event);
    const last = runs.at(-1);
    if (last?.to === seq - 1 && last.why === why) runs.splice(-1, 1, { ...last, to: seq });
    else runs.push({ from: seq, to: seq, why });
  }
  return runs;
}

function whyLeftOut(answer: number, event: Pick<ExplainedEvent, 'seq' | 'inView' | 'reason' | 'by'>): string {
  if (event.inView) return 'in the view, but left out by whoever asked the model';
  if (event.by !== undefined && event.by > answer) return `not known: event ${event.by} came later and decides now`;
  return decisionText(event.seq, event) ?? 'a rewind';
}

function rangesOfPairs(pairs: readonly SeqPair[]): SeqRange[] {
  return pairs.map(([from, to]) => ({ from, to }));
}
