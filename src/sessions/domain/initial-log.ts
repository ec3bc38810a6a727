import type { CommitEvent } from './commit-event.js';
import { type Counters, NO_COUNTS } from './counters.js';
import { type Marks, NO_MARKS } from './marks.js';

/** An event of a log that a session is created with. */
export interface InitialEvent extends CommitEvent {
  readonly appendedAt: number;
  /** Latest time in the log up to here, of timestamps and appends alike. */
  readonly highWater: number;
}

/** The log that a session is created with, and what its record says of it. */
export interface InitialLog {
  /** They get the numbers from 1 on, in this order; no two have the same id. */
  readonly events: readonly InitialEvent[];
  /** The last event that is no summary. */
  readonly tipSeq: number;
  readonly counters: Counters;
  readonly marks: Marks;
  /** The event that set the marks. */
  readonly marksSeq: number;
}

export const EMPTY_LOG: InitialLog = Object.freeze({
  events: Object.freeze([]),
  tipSeq: 0,
  counters: NO_COUNTS,
  marks: NO_MARKS,
  marksSeq: 0,
});
