import { EventActions, type EventInput, type EventLike } from '../../sessions/domain/event/event.js';

/** Why an agent failed. `FAULT`: its code, or what it asks for, is wrong, so that it would fail again. */
export type FailureReason = 'RATE_LIMITED' | 'TIMEOUT' | 'UNAVAILABLE' | 'FAULT';

/** What the log says of a failure. */
export interface Failure {
  readonly reason: FailureReason;
  /** Whether the same may succeed later. */
  readonly retryable: boolean;
}

/** What the last event of an invocation that failed says besides its code. */
export function failedBy({ reason, retryable }: Failure): EventInput {
  return { actions: new EventActions({ failure: { reason, retryable } }) };
}

/** Why an invocation failed that ended with this event; undefined if it did not fail. */
export function failureIn({ interrupted, errorCode, actions }: EventLike): Failure | undefined {
  if (interrupted !== true || errorCode !== 'FAILED') return undefined;
  return (actions?.failure as Failure | undefined) ?? { reason: 'FAULT', retryable: false };
}

const CODES: Readonly<Record<string, FailureReason>> = {
  ETIMEDOUT: 'TIMEOUT',
  ESOCKETTIMEDOUT: 'TIMEOUT',
  UND_ERR_CONNECT_TIMEOUT: 'TIMEOUT',
  UND_ERR_HEADERS_TIMEOUT: 'TIMEOUT',
  UND_ERR_BODY_TIMEOUT: 'TIMEOUT',
  ECONNREFUSED: 'UNAVAILABLE',
  ECONNRESET: 'UNAVAILABLE',
  ECONNABORTED: 'UNAVAILABLE',
  ENOTFOUND: 'UNAVAILABLE',
  EAI_AGAIN: 'UNAVAILABLE',
  EPIPE: 'UNAVAILABLE',
  UND_ERR_SOCKET: 'UNAVAILABLE',
};

/** Errors of SDKs often have the name of their class only. */
const NAMES: readonly (readonly [RegExp, FailureReason])[] = [
  [/^AbortError$|Timeout(Error)?$/, 'TIMEOUT'],
  [/^RateLimitError$|^ThrottlingException$/, 'RATE_LIMITED'],
  [/ConnectionError$/, 'UNAVAILABLE'],
];

/** How far errors are followed to their cause. */
const MAX_CAUSES = 8;

/** The fields of errors of SDKs and of Node. */
interface FoundError {
  readonly name?: unknown;
  readonly constructor?: { readonly name: unknown };
  readonly code?: unknown;
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly response?: { readonly status?: unknown } | null;
  readonly $metadata?: { readonly httpStatusCode?: unknown } | null;
  readonly cause?: unknown;
  /** Of the AI SDK, which retries by itself. */
  readonly lastError?: unknown;
}

/** Why a handler failed, by what it threw: the status of a vendor's SDK, a code of Node, or the name of the error. */
export function failureReasonOf(error: unknown): FailureReason {
  try {
    return knownReason(error) ?? 'FAULT';
  } catch {
    // Anything may be thrown, also what cannot be read.
    return 'FAULT';
  }
}

function knownReason(error: unknown): FailureReason | undefined {
  let found = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof found === 'object' && found !== null; depth++) {
    const reason = ownReason(found);
    if (reason) return reason;
    const { cause, lastError } = found as FoundError;
    found = cause ?? lastError;
  }
  return undefined;
}

function ownReason(error: FoundError): FailureReason | undefined {
  const { status, statusCode, response, $metadata, code } = error;
  const answered = [status, statusCode, response?.status, $metadata?.httpStatusCode, code].find(isStatus);
  if (answered !== undefined) return reasonOfStatus(answered);
  if (typeof code === 'string' && Object.hasOwn(CODES, code)) return CODES[code];
  const names = [error.name, error.constructor?.name];
  return NAMES.find(([pattern]) => names.some((name) => typeof name === 'string' && pattern.test(name)))?.[1];
}

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && value >= 400 && value < 600;
}

function reasonOfStatus(status: number): FailureReason {
  if (status === 429) return 'RATE_LIMITED';
  if (status === 408 || status === 504) return 'TIMEOUT';
  return status >= 500 ? 'UNAVAILABLE' : 'FAULT';
}
