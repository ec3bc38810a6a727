import { InvalidInputError } from '../errors/errors.js';
import { textProblem } from './input-checks.js';

const MOST_BYTES = 500;

/** Checks why somebody does what cannot be undone, for the note of it. */
export function checkedReason(reason: string): string {
  const problem = textProblem(reason, MOST_BYTES);
  if (problem) throw new InvalidInputError(problem, 'reason');
  return reason;
}
