import { type Counters, NO_COUNTS, storedCounters } from '../stored/counters.js';
import type { Moment } from './moment.js';
import type { SessionRecord } from '../stored/session-record.js';
import { storedJson } from '../stored/stored-json.js';
import { NO_MARKS, type ViewMarks } from '../stored/view-marks.js';

/** Checkpoints are at multiples of this `seq`. */
export const CHECKPOINT_EVERY = 256;

/** Large checkpoints are farther apart: one event for each of this many bytes. */
const BYTES_PER_EVENT = 256;

/**
 * State, marks and counters after an event, so that earlier events need not be read. They are derived from these events
 * only, which never change. So every process derives the same checkpoint.
 */
export interface Checkpoint extends Moment {
  /** The session's own state. */
  readonly state: Record<string, unknown>;
  /** The keys of shared scopes with the values that events of this session gave them. */
  readonly shared: Record<string, unknown>;
  /** Size as text. */
  readonly bytes: number;
}

/** The text of a checkpoint, for the store. */
export function checkpointText({ state, shared, marks, counters }: Omit<Checkpoint, 'seq' | 'bytes'>): string {
  return JSON.stringify({ state, shared, marks, counters });
}

/** Parses a stored checkpoint. Removes trimmed events from its marks. */
export function storedCheckpoint(
  { seq, text }: { readonly seq: number; readonly text: string },
  { firstSeq }: SessionRecord,
): Checkpoint {
  const stored = storedJson(text, `a checkpoint (${seq})`) as Omit<Checkpoint, 'seq' | 'bytes'>;
  const counters = storedCounters(stored.counters);
  return { ...stored, seq, marks: retainedMarks(stored.marks, firstSeq), counters, bytes: Buffer.byteLength(text) };
}

/**
 * The place before the first retained event.
 *
 * @param counters of the trimmed events
 */
export function createFirstCheckpoint(
  { firstSeq }: SessionRecord,
  baseState: string,
  counters: Counters = NO_COUNTS,
): Checkpoint {
  const state = storedJson(baseState, 'state') as Record<string, unknown>;
  return { seq: firstSeq - 1, marks: NO_MARKS, counters, state, shared: {}, bytes: Buffer.byteLength(baseState) };
}

/** The `seq` of the next checkpoint. */
export function seqOfNext({ seq, bytes }: Pick<Checkpoint, 'seq' | 'bytes'>): number {
  const steps = Math.max(1, Math.ceil(bytes / (BYTES_PER_EVENT * CHECKPOINT_EVERY)));
  return (Math.floor(seq / CHECKPOINT_EVERY) + steps) * CHECKPOINT_EVERY;
}

function retainedMarks(marks: ViewMarks, firstSeq: number): ViewMarks {
  const hidden = marks.hidden.filter(({ to }) => to >= firstSeq);
  if (marks.summarySeq < firstSeq) return { ...NO_MARKS, hidden };
  return { ...marks, hidden, covered: storedCounters(marks.covered) };
}
