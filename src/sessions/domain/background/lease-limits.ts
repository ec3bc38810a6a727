import { InvalidInputError } from '../errors/errors.js';
import { MAX_ID_BYTES } from '../values/ids.js';
import { assertWholeNumber, textProblem } from '../values/input-checks.js';

/** Fits a short prefix and two ids. */
const MAX_LEASE_NAME_BYTES = 400;
/** Shorter leases would expire before a busy store renews them. */
export const SHORTEST_LEASE_MS = 100;
/** Longer work renews its lease. A longer lease would only delay others after a crash. */
export const LONGEST_LEASE_MS = 24 * 60 * 60 * 1000;

/** Refuses an invalid lease request. */
export function assertLeaseRequest({ name, holder, ttlMs }: Record<'name' | 'holder' | 'ttlMs', unknown>): void {
  refuse(textProblem(name, MAX_LEASE_NAME_BYTES), 'name');
  refuse(textProblem(holder, MAX_ID_BYTES), 'holder');
  assertLeaseTime(ttlMs);
}

/** Refuses an invalid time to live of a lease or a turn. */
export function assertLeaseTime(ttlMs: unknown): void {
  assertWholeNumber(ttlMs, { path: 'ttlMs', from: SHORTEST_LEASE_MS, to: LONGEST_LEASE_MS });
}

function refuse(problem: string | undefined, path: string): void {
  if (problem) throw new InvalidInputError(problem, path);
}
