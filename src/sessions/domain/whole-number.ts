import { InvalidInputError } from './errors.js';

interface Range {
  /** Of the value, for the message. */
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** Refuses what is not a whole number in this range. */
export function assertWholeNumber(value: unknown, { path, from, to }: Range): void {
  if (Number.isSafeInteger(value) && Number(value) >= from && Number(value) <= to) return;
  throw new InvalidInputError(`must be a whole number from ${from} to ${to}`, path);
}
