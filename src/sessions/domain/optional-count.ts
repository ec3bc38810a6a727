import { InvalidInputError } from './errors.js';

/** A whole number from 0 on, or nothing. */
export function optionalCount(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidInputError('must be a whole number from 0 on', path);
}
