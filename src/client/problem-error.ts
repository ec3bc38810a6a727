/** Whom a server turns away, and what proxies say of a server that they do not reach. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * What the server says went wrong (RFC 9457), with the stable code of `nestjs-agent-sessions`.
 *
 * @example if (error instanceof ProblemError && error.code === 'STALE_SESSION') await reload(error.currentVersion);
 */
export class ProblemError extends Error {
  readonly code: string;
  /** Of a store that did not answer as it should: whether the write may have happened. */
  readonly outcomeUnknown: boolean;
  /** Of a condition that failed. */
  readonly currentVersion: number | undefined;
  /** Where in the request it is. */
  readonly path: string | undefined;
  /** Of an append that may have happened: the id under which to send the event again. */
  readonly eventId: string | undefined;

  constructor(
    readonly status: number,
    problem: Readonly<Record<string, unknown>>,
    /** How long the server wants to be left alone. */
    readonly retryAfterMs?: number,
  ) {
    super(typeof problem.detail === 'string' ? problem.detail : `The server answered ${status}`);
    this.name = 'ProblemError';
    this.code = typeof problem.code === 'string' ? problem.code : 'UNKNOWN';
    this.outcomeUnknown = problem.outcomeUnknown === true;
    this.path = typeof problem.path === 'string' ? problem.path : undefined;
    this.eventId = typeof problem.eventId === 'string' ? problem.eventId : undefined;
    this.currentVersion = typeof problem.currentVersion === 'number' ? problem.currentVersion : undefined;
  }

  /** Whether the same request may fare better later. */
  get isTemporary(): boolean {
    // With a good status, something else than the routes answered.
    return this.status < 300 || TEMPORARY.has(this.status);
  }
}
