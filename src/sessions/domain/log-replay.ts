import { type Counters, NO_COUNTS, addCounters, countsOf, subtractCounters } from './counters.js';
import type { LoggedEvent } from './event.js';
import { type Marks, NO_MARKS, marksAfterRewind, marksAfterSummary } from './marks.js';
import { isInRanges } from './seq-ranges.js';

interface Moment {
  /** What they say is covered is counted from the first event that is kept. */
  readonly marks: Marks;
  /** What the events count that were not rewound then. */
  readonly counts: Counters;
  /** What the event itself adds. */
  readonly own: Counters;
}

const BEGINNING: Moment = { marks: NO_MARKS, counts: NO_COUNTS, own: NO_COUNTS };

/**
 * Plays a log from its beginning and remembers how things stood after each event, so that a rewind can
 * bring back the very moment it goes to: what was hidden then is hidden again, what was seen is seen.
 */
export class LogReplay {
  readonly #moments = new Map<number, Moment>();
  #latest = BEGINNING;

  add(event: LoggedEvent): void {
    this.#latest = this.#after(event);
    this.#moments.set(event.seq, this.#latest);
  }

  /** @param now the counters of the session, which know of events that are not kept any more */
  marksAt(seq: number, now: Counters = this.#latest.counts): Marks {
    const { marks } = this.#at(seq);
    if (marks.summarySeq === 0) return marks;
    const forgotten = subtractCounters(now, this.#latest.counts);
    return { ...marks, covered: addCounters(marks.covered, forgotten) };
  }

  /** What the events count that are not rewound then. */
  countsAt(seq: number): Counters {
    return this.#at(seq).counts;
  }

  /** What going back to `seq` takes away from the counters, or brings back. */
  countsFromNowTo(seq: number): Counters {
    return subtractCounters(this.#at(seq).counts, this.#latest.counts);
  }

  #after(event: LoggedEvent): Moment {
    const { compaction, rewind } = event.actions;
    if (rewind) {
      const then = this.#at(rewind.toSeq);
      return { marks: marksAfterRewind(then.marks, rewind.toSeq, event.seq), counts: then.counts, own: NO_COUNTS };
    }
    const { marks, counts } = this.#latest;
    if (compaction) {
      const { toSeq } = compaction;
      const covered = subtractCounters(counts, this.#visibleAfter(toSeq, marks));
      return { marks: marksAfterSummary(marks, toSeq, covered, event.seq), counts, own: NO_COUNTS };
    }
    const own = countsOf(event);
    return { marks, counts: addCounters(counts, own), own };
  }

  #visibleAfter(toSeq: number, { hidden }: Marks): Counters {
    let counts = NO_COUNTS;
    for (const [seq, { own }] of this.#moments) {
      if (seq > toSeq && !isInRanges(seq, hidden)) counts = addCounters(counts, own);
    }
    return counts;
  }

  /** Before the first event that is kept, everything is as in the beginning. */
  #at(seq: number): Moment {
    return this.#moments.get(seq) ?? BEGINNING;
  }
}

/**
 * Where a log may begin that is to begin at `wanted`: not after a place that one of its rewinds goes to, since nobody
 * could tell any more how things stood there.
 */
export function beginningBefore(wanted: number, rewinds: readonly LoggedEvent[]): number {
  let beginning = wanted;
  for (const { seq, actions } of rewinds.toSorted((a, b) => b.seq - a.seq)) {
    if (seq >= beginning && actions.rewind) beginning = Math.min(beginning, actions.rewind.toSeq + 1);
  }
  return beginning;
}
