import { isNetworkFailure } from './unreachable-error.js';

/**
 * A request was not sent, because `headers` of the client failed, or gave what HTTP does not allow. The `cause` is what it threw.
 *
 * @example if (error instanceof RequestHeadersError) await signInAgain();
 */
export class RequestHeadersError extends Error {
  readonly code = 'REQUEST_HEADERS';

  constructor(cause: unknown) {
    super(`Nothing was sent, because \`headers\` of the client failed: ${String(cause)}`, { cause });
    this.name = 'RequestHeadersError';
  }

  /** Whether they asked another server, which may answer later. */
  get isTemporary(): boolean {
    return isNetworkFailure(this.cause);
  }
}
