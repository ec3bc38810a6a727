import type { GroupSearch } from '../domain/event/event-group.js';

/** No run comes before it. */
const NONE = -1;
/** The numbers of a run: its first event, its last one, and the run of the same group before it. */
const NUMBERS = 3;

/** The events of a log by group. Most groups are one run of neighbours, so runs are kept and not events. */
export class EventGroups {
  /** The last run of each group. */
  readonly #lastRuns = new Map<string, number>();
  readonly #runs: number[] = [];

  /** Adds an event that is later than all others. */
  add(group: string, seq: number): void {
    if (group === '') return;
    const run = this.#lastRuns.get(group) ?? NONE;
    if (run !== NONE && this.#runs[run + 1] === seq - 1) this.#runs[run + 1] = seq;
    else this.#lastRuns.set(group, this.#runs.push(seq, seq, run) - NUMBERS);
  }

  /** The event, or 0 if there is none. */
  find({ group, direction, from }: GroupSearch): number {
    let after = 0;
    for (let run = this.#lastRuns.get(group) ?? NONE; run !== NONE; run = this.#runs[run + 2] ?? NONE) {
      const [first = 0, last = 0] = [this.#runs[run], this.#runs[run + 1]];
      if (first <= from && from <= last) return from;
      if (last < from) return direction === 'previous' ? last : after;
      after = first;
    }
    return direction === 'previous' ? 0 : after;
  }
}
