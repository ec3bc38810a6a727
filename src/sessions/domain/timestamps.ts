import { InvalidInputError } from './errors.js';

/** Seconds until the year 5138 lie below this, milliseconds since 1973 above it. */
const FIRST_MILLISECOND_TIMESTAMP = 1e11;
const LAST_TIMESTAMP = 8.64e15;

/** Whole epoch milliseconds; what can only be seconds, as other ADKs use them, is converted. */
export function epochMilliseconds(value: unknown, path: string): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= LAST_TIMESTAMP)) {
    throw new InvalidInputError('must be a time in epoch milliseconds', path);
  }
  // Adding 0 makes -0 what JSON makes of it.
  return Math.round(value < FIRST_MILLISECOND_TIMESTAMP ? value * 1000 : value) + 0;
}
