import { type Counters, NO_COUNTS } from './counters.js';
import { NO_MARKS, type ViewMarks } from './view-marks.js';

/** An event of the log with which a session is created. */
export interface InitialEvent extends CommitEvent {
  readonly appendedAt: number;
  /** Latest time in the log up to this event: timestamps and append times. */
  readonly highWater: number;
}

/** The log with which a session is created, and the fields of its record that depend on the log. */
export interface InitialLog {
  /** They get `seq` 1, 2, 3 …, in this order. Ids are unique. */
  readonly events: readonly InitialEvent[];
  /** The last event that is not a summary. */
  readonly tipSeq: number;
  readonly counters: Counters;
  readonly marks: ViewMarks;
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

/** The event of a commit: the fields that a store uses, and the event itself as opaque JSON text. */
export interface CommitEvent {
  readonly id: string;
  readonly digest: string;
  readonly timestamp: number;
  /** Whether a shortened view may begin here. */
  readonly anchor: boolean;
  readonly payload: string;
}
