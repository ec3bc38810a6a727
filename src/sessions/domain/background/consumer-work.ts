import type { SessionKey } from '../values/ids.js';
import { toErrorMessage } from '../errors/thrown-text.js';
import { type ClaimChange, claimAfter, nextClaim } from './work-claims.js';

/**
 * Work of a consumer: the unhandled events of one session, or one dead letter.
 *
 * Entries exist only while there is work, so sessions without new events cost nothing.
 */
export interface WorkEntry {
  readonly consumer: string;
  readonly key: SessionKey;
  readonly incarnation: string;
  /** 0 for the log of the session; the number of the event for a dead letter. */
  readonly letterSeq: number;
  /** The last event that was handled. */
  readonly seq: number;
  /** The last event to handle. */
  readonly upTo: number;
  /** When the first event of this work was appended, by the store's clock. */
  readonly since: number;
  /** Failed tries of the next event. */
  readonly tries: number;
  /** Identifies the worker that has claimed it, or ''; with a mark if it is suspect, see `Care`. */
  readonly claim: string;
  /** Why the last try failed, or ''. */
  readonly problem: string;
}

/** The progress of a worker. */
export interface WorkProgress extends ClaimChange {
  readonly seq: number;
  readonly tries: number;
  readonly problem?: string | undefined;
  /** The entry is due again after this time. While the worker keeps the claim, this is its time limit. */
  readonly dueInMs: number;
  /** An event that becomes a dead letter. The work continues after it. */
  readonly letter?: DeadEvent | undefined;
}

/** An event that becomes a dead letter. */
export interface DeadEvent {
  readonly seq: number;
  readonly tries: number;
  readonly problem: string;
}

/** The state of the work after a worker saved its progress. */
export type NoteOutcome =
  /** The claim is over: another worker has the entry. Nothing was saved. */
  | { readonly kind: 'lost' }
  /** All events are handled. The entry is removed. */
  | { readonly kind: 'done' }
  /** Events up to this one are not handled yet. */
  | { readonly kind: 'left'; readonly upTo: number };

/** Longer messages are cut before they are stored. */
export const MAX_PROBLEM_LENGTH = 500;

/**
 * The entry after a claim. If the previous claim was neither released nor renewed in time, its worker probably crashed
 * while it handled the next event. This counts as a failed try if the worker had no other work.
 *
 * @param id identifies the claim, and is a part of it
 * @example const entry = claimedEntry(stored, id); // to be stored, due again after `forMs`
 */
export function claimedEntry(entry: WorkEntry, id: string): WorkEntry {
  const { claim, hasFailed } = nextClaim(entry.claim, id);
  return { ...entry, claim, tries: entry.tries + (hasFailed ? 1 : 0) };
}

/**
 * The entry after its worker saved progress; `undefined` if all its events are handled.
 *
 * @example
 * const next = entryAfter(stored, progress);
 * if (!next) return removed(stored);
 */
export function entryAfter(entry: WorkEntry, progress: WorkProgress): WorkEntry | undefined {
  if (progress.seq >= entry.upTo) return undefined;
  const { seq, tries, problem = '' } = progress;
  return { ...entry, seq, tries, problem, claim: claimAfter(entry.claim, progress) };
}

/**
 * The entry of a dead letter.
 *
 * @example if (progress.letter) put(createLetterEntry(stored, progress.letter), PARKED);
 */
export function createLetterEntry(entry: WorkEntry, { seq, tries, problem }: DeadEvent): WorkEntry {
  return { ...entry, letterSeq: seq, seq: seq - 1, upTo: seq, tries, problem, claim: '' };
}

/**
 * The dead letter after `retry`.
 *
 * @example put(revivedLetter(stored), { inMs: 0 });
 */
export function revivedLetter(letter: WorkEntry): WorkEntry {
  return { ...letter, tries: 0 };
}

/** The message of an error, as stored. */
export function toStoredProblem(error: unknown): string {
  const text = toErrorMessage(error).replaceAll('\u0000', '').slice(0, MAX_PROBLEM_LENGTH).toWellFormed();
  return text === '' ? 'It failed without a message.' : text;
}
