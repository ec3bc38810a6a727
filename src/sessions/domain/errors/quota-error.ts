import type { QuotaName, QuotaScope } from '../../../config/quota-settings.js';
import { SessionsError } from './errors.js';

export type { QuotaName } from '../../../config/quota-settings.js';

/** What is used of a quota. */
export interface QuotaUse {
  /** `process`: this instance. */
  readonly scope: QuotaScope;
  readonly quota: QuotaName;
  /** Of a rate also what instances have set aside for themselves. */
  readonly used: number;
  readonly limit: number;
  /** When a new minute or day begins, by the store's clock; missing for `sessions` and `storedBytes`. */
  readonly resetsAt?: number | undefined;
}

const WORDS: Readonly<Record<QuotaName, string>> = {
  sessions: 'sessions',
  storedBytes: 'stored bytes',
  appendsPerMinute: 'events in this minute',
  bytesPerDay: 'bytes of this day',
  runsPerMinute: 'runs in this minute',
};

const OWNERS: Readonly<Record<QuotaScope, string>> = { user: 'user', app: 'app', process: 'instance' };

/**
 * A quota is used up. Nothing was written: the same request can be sent again.
 *
 * @example if (error instanceof QuotaExceededError && error.retryAfterMs !== undefined) await delay(error.retryAfterMs);
 */
export class QuotaExceededError extends SessionsError {
  readonly code = 'QUOTA_EXCEEDED';
  readonly status = 429;

  /** @param retryAfterMs when it is worth to try again; missing if time alone does not help */
  constructor(
    readonly quota: QuotaUse,
    readonly retryAfterMs?: number,
  ) {
    super(
      `The quota of the ${OWNERS[quota.scope]} is used up: ${quota.used} of ${quota.limit} ${WORDS[quota.quota]}. ${adviceFor(quota)}`,
    );
  }
}

function adviceFor({ quota, resetsAt }: QuotaUse): string {
  if (quota === 'sessions') return 'Delete sessions, or raise the quota.';
  if (quota === 'storedBytes') return 'Delete sessions or events, or raise the quota.';
  if (resetsAt === undefined) return 'It never has room for so much at once: send less, or raise the quota.';
  return `Nothing was written. Try again at ${new Date(resetsAt).toISOString()}.`;
}
