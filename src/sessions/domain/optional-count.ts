import { InvalidInputError } from './errors.js';

/** Whether the value is a whole number from 0 on. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Checks an optional whole number from 0 on. */
export function optionalCount(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (isCount(value)) return value;
  throw new InvalidInputError('must be a whole number from 0 on', path);
}
