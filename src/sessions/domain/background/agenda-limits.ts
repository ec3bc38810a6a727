import { InvalidInputError } from '../errors/errors.js';
import { assertWholeNumber, textProblem } from '../values/input-checks.js';

/** Fits a short prefix and the three ids of a session. */
const MAX_AGENDA_NAME_BYTES = 800;
/** More than a year, for work that is due once a year. */
export const LONGEST_DELAY_MS = 400 * 24 * 60 * 60 * 1000;
/** A caller with more due entries asks again. */
export const MAX_DUE_ENTRIES = 1_000;

/**
 * Refuses a name or a delay that no agenda accepts.
 *
 * @example
 * async put(name: string, inMs: number): Promise<void> {
 *   assertAgendaPut(name, inMs);
 *   await this.keepTheLater(name, dueTime(this.now(), inMs));
 * }
 */
export function assertAgendaPut(name: unknown, inMs: unknown): void {
  assertName(name);
  assertWholeNumber(inMs, { path: 'inMs', from: 0, to: LONGEST_DELAY_MS });
}

/**
 * Refuses an entry that no agenda can have returned.
 *
 * @example assertAgendaEntry(entry); // first thing in `remove`
 */
export function assertAgendaEntry({ name, dueAt }: Record<'name' | 'dueAt', unknown>): void {
  assertName(name);
  assertWholeNumber(dueAt, { path: 'dueAt', from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER });
}

/**
 * Refuses a limit outside 1 to 1,000.
 *
 * @example assertDueLimit(limit); // first thing in `due`
 */
export function assertDueLimit(limit: unknown): void {
  assertWholeNumber(limit, { path: 'limit', from: 1, to: MAX_DUE_ENTRIES });
}

/**
 * When an entry is due that is put on the agenda now.
 *
 * @example const dueAt = dueTime(this.now(), inMs);
 */
export function dueTime(now: number, inMs: number): number {
  return Math.floor(now + inMs);
}

function assertName(name: unknown): void {
  const problem = textProblem(name, MAX_AGENDA_NAME_BYTES);
  if (problem) throw new InvalidInputError(problem, 'name');
}
