import { type Counters, NO_COUNTS, addCounters, countsOf, subtractCounters } from './counters.js';
import type { LoggedEvent } from './event.js';
import { type Marks, NO_MARKS, marksAfterRewind, marksAfterSummary } from './marks.js';

interface Moment {
  readonly marks: Marks;
  /** What the events count that were not rewound then. */
  readonly counts: Counters;
}

const BEGINNING: Moment = { marks: NO_MARKS, counts: NO_COUNTS };

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

  marksAt(seq: number): Marks {
    return this.#at(seq).marks;
  }

  /** What going back to `seq` takes away from the counters, or brings back. */
  countsFromNowTo(seq: number): Counters {
    return subtractCounters(this.#at(seq).counts, this.#latest.counts);
  }

  #after(event: LoggedEvent): Moment {
    const { compaction, rewind } = event.actions;
    if (rewind) {
      const then = this.#at(rewind.toSeq);
      return { marks: marksAfterRewind(then.marks, rewind.toSeq, event.seq), counts: then.counts };
    }
    const { marks, counts } = this.#latest;
    if (compaction) return { marks: marksAfterSummary(marks, compaction.toSeq, event.seq), counts };
    return { marks, counts: addCounters(counts, countsOf(event)) };
  }

  /** Before the first event that is kept, everything is as in the beginning. */
  #at(seq: number): Moment {
    return this.#moments.get(seq) ?? BEGINNING;
  }
}
