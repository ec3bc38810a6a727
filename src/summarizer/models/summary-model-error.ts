/** The codes are part of the contract: programs may compare them, and they never change. */
export type SummaryModelErrorCode =
  /** The model was set up wrongly: nothing was asked. */
  | 'MISCONFIGURED'
  | 'TIMED_OUT'
  /** No connection, or one that broke. */
  | 'UNREACHABLE'
  | 'RATE_LIMITED'
  /** The provider does not want the request as it is: a wrong key, an unknown model, too long a text. */
  | 'REJECTED'
  | 'PROVIDER_FAILED'
  /** What came back is not what was agreed upon. */
  | 'BAD_ANSWER';

/**
 * A model could not be asked, or gave no answer. The message names a status and a short reason, never a key, an address or
 * the conversation; what the provider or its library threw is not attached, for it often holds all three.
 *
 * @example
 * try {
 *   await model.summarize(request, { signal });
 * } catch (error) {
 *   if (error instanceof SummaryModelError && error.retryable) later(error.retryAfterMs);
 *   else throw error;
 * }
 */
export class SummaryModelError extends Error {
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  readonly status: number | undefined;
  /** How long the provider wants to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: SummaryModelErrorCode,
    message: string,
    details: { retryable?: boolean; status?: number | undefined; retryAfterMs?: number | undefined } = {},
  ) {
    super(message);
    this.name = 'SummaryModelError';
    this.retryable = details.retryable ?? false;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}
