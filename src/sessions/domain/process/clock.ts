import { InvalidInputError } from '../errors/errors.js';

/** Source of the time, in whole epoch milliseconds. Tests pass their own. */
export interface Clock {
  now(): number;
}

/** The time of this machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** Below: seconds until the year 5138. Above: milliseconds since 1973. */
const FIRST_MILLISECOND_TIMESTAMP = 1e11;
/** The last time that a `Date` has. */
export const LAST_TIMESTAMP = 8.64e15;

/** Converts a time to whole epoch milliseconds. Other ADKs use seconds, which are recognised by their size. */
export function epochMilliseconds(value: unknown, path: string): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= LAST_TIMESTAMP)) {
    throw new InvalidInputError('must be a time in epoch milliseconds', path);
  }
  // Adding 0 turns -0 into 0, as JSON does.
  return Math.round(value < FIRST_MILLISECOND_TIMESTAMP ? value * 1000 : value) + 0;
}
