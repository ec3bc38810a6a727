import { InvalidInputError } from './errors.js';

/** Checks an optional yes or no. */
export function checkedFlag(value: unknown, path: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw new InvalidInputError('must be true or false', path);
}
