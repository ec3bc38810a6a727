import { SummaryModelError, type SummaryModelErrorCode } from '../summary-model-error.js';

/** The error for an HTTP status that is no success. */
export function statusError(status: number, reason?: string, retryAfterMs?: number): SummaryModelError {
  const why = reason === undefined ? '' : ` (${reason})`;
  return new SummaryModelError(
    codeOf(status),
    `The provider answered with status ${status}${why}.${adviceFor(status)}`,
    {
      retryable: isRetryable(status),
      status,
      retryAfterMs,
    },
  );
}

function isRetryable(status: number): boolean {
  return [408, 409, 429].includes(status) || status >= 500;
}

function codeOf(status: number): SummaryModelErrorCode {
  if (status === 429) return 'RATE_LIMITED';
  return isRetryable(status) ? 'PROVIDER_FAILED' : 'REJECTED';
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return ' Check the key and what it may do.';
  if (status === 404) return ' Check the base URL and the name of the model.';
  if (status >= 300 && status < 400) return ' Redirects are not followed: give the address that they lead to.';
  return '';
}
