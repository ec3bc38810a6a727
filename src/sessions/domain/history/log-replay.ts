import { type Counters, NO_COUNTS, addCounters, countEvent, subtractCounters } from '../stored/counters.js';
import type { LoggedEvent } from '../event/event.js';
import { isInRanges } from '../values/seq-ranges.js';
import { NO_MARKS, type ViewMarks, marksAfterRewind, marksAfterSummary } from '../stored/view-marks.js';

interface ReplayedEvent {
  /** Their `covered` counts from the first retained event. */
  readonly marks: ViewMarks;
  /** Counters of the events that were not rewound at that moment. */
  readonly counts: Counters;
  /** Counters that the event itself adds. */
  readonly own: Counters;
}

const BEGINNING: ReplayedEvent = { marks: NO_MARKS, counts: NO_COUNTS, own: NO_COUNTS };

/**
 * Replays a log from its beginning and records marks and counters after each event, so that a rewind can restore
 * them exactly.
 */
export class LogReplay {
  readonly #moments = new Map<number, ReplayedEvent>();
  #latest = BEGINNING;

  add(event: LoggedEvent): void {
    this.#latest = this.#after(event);
    this.#moments.set(event.seq, this.#latest);
  }

  /** @param now the counters of the session, which include trimmed events */
  marksAt(seq: number, now: Counters = this.#latest.counts): ViewMarks {
    const { marks } = this.#at(seq);
    if (marks.summarySeq === 0) return marks;
    const forgotten = subtractCounters(now, this.#latest.counts);
    return { ...marks, covered: addCounters(marks.covered, forgotten) };
  }

  /** Counters of the events that are not rewound at `seq`. */
  countsAt(seq: number): Counters {
    return this.#at(seq).counts;
  }

  #after(event: LoggedEvent): ReplayedEvent {
    const { compaction, rewind } = event.actions;
    if (rewind) {
      const then = this.#at(rewind.toSeq);
      const marks = marksAfterRewind(then.marks, rewind.toSeq, event.seq);
      return { marks, counts: then.counts, own: NO_COUNTS };
    }
    const { marks, counts } = this.#latest;
    if (compaction) {
      const { toSeq } = compaction;
      const covered = subtractCounters(counts, this.#visibleAfter(toSeq, marks));
      return { marks: marksAfterSummary(marks, toSeq, covered, event.seq), counts, own: NO_COUNTS };
    }
    const own = countEvent(event);
    return { marks, counts: addCounters(counts, own), own };
  }

  #visibleAfter(toSeq: number, { hidden }: ViewMarks): Counters {
    let counts = NO_COUNTS;
    for (const [seq, { own }] of this.#moments) {
      if (seq > toSeq && !isInRanges(seq, hidden)) counts = addCounters(counts, own);
    }
    return counts;
  }

  /** Before the first retained event, marks and counters are empty. */
  #at(seq: number): ReplayedEvent {
    return this.#moments.get(seq) ?? BEGINNING;
  }
}

/**
 * The latest allowed beginning of a log, at most `wanted`. It must not be after the target of a retained rewind, since
 * the marks at that target could not be computed any more.
 */
export function beginningBefore(wanted: number, rewinds: readonly LoggedEvent[]): number {
  let beginning = wanted;
  for (const { seq, actions } of rewinds.toSorted((a, b) => b.seq - a.seq)) {
    if (seq >= beginning && actions.rewind) beginning = Math.min(beginning, actions.rewind.toSeq + 1);
  }
  return beginning;
}
