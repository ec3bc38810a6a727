import type { ExceededBudget } from '../sessions/domain/errors/budget-error.js';
import type { QuotaUse } from '../sessions/domain/errors/quota-error.js';

/** Rate limits, and statuses of proxies and servers that are unavailable. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * A problem response (RFC 9457), with a stable error code.
 *
 * @example if (error instanceof ProblemError && error.code === 'STALE_SESSION') await reload(error.currentVersion);
 */
export class ProblemError extends Error {
  readonly code: string;
  /** Whether the write may have happened although the store failed. */
  readonly outcomeUnknown: boolean;
  /** The version of the session after a failed condition. */
  readonly currentVersion: number | undefined;
  /** Where in the request the problem is. */
  readonly path: string | undefined;
  /** The event id to retry an append with that may have happened. */
  readonly eventId: string | undefined;
  /** The same for an append of several events. */
  readonly eventIds: readonly string[] | undefined;
  /** Who holds the turn of the session. */
  readonly holder: string | undefined;
  /** When that turn is over unless it is renewed. */
  readonly expiresAt: number | undefined;
  /** The budget that is used up. */
  readonly budget: ExceededBudget | undefined;
  /** The quota that is used up. */
  readonly quota: QuotaUse | undefined;
  /** Why an agent failed: `RATE_LIMITED`, `TIMEOUT`, `UNAVAILABLE` or `FAULT`. */
  readonly reason: string | undefined;
  /** Whether the agent may succeed later. */
  readonly retryable: boolean | undefined;
  /** The invocation in which it failed. */
  readonly invocationId: string | undefined;

  constructor(
    readonly status: number,
    problem: Readonly<Record<string, unknown>>,
    /** How long to wait before a retry, from `Retry-After`. */
    readonly retryAfterMs?: number,
  ) {
    super(typeof problem.detail === 'string' ? problem.detail : `The server answered ${status}`);
    this.name = 'ProblemError';
    this.code = typeof problem.code === 'string' ? problem.code : 'UNKNOWN';
    this.outcomeUnknown = problem.outcomeUnknown === true;
    this.path = typeof problem.path === 'string' ? problem.path : undefined;
    this.eventId = typeof problem.eventId === 'string' ? problem.eventId : undefined;
    this.eventIds = Array.isArray(problem.eventIds) ? (problem.eventIds as string[]) : undefined;
    this.holder = typeof problem.holder === 'string' ? problem.holder : undefined;
    this.expiresAt = typeof problem.expiresAt === 'number' ? problem.expiresAt : undefined;
    this.reason = typeof problem.reason === 'string' ? problem.reason : undefined;
    this.retryable = typeof problem.retryable === 'boolean' ? problem.retryable : undefined;
    this.invocationId = typeof problem.invocationId === 'string' ? problem.invocationId : undefined;
    this.budget = typeof problem.budget === 'object' ? (problem.budget as ExceededBudget) : undefined;
    this.quota = typeof problem.quota === 'object' ? (problem.quota as QuotaUse) : undefined;
    this.currentVersion = typeof problem.currentVersion === 'number' ? problem.currentVersion : undefined;
  }

  /** Whether a retry may succeed. */
  get isTemporary(): boolean {
    // With a 2xx status, a proxy answered.
    const isUsedUp = this.code === 'BUDGET_EXCEEDED' || (this.quota !== undefined && this.quota.resetsAt === undefined);
    return this.status < 300 || (TEMPORARY.has(this.status) && !isUsedUp);
  }
}
