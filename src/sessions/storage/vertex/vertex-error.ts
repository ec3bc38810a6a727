import { StoreUnavailableError } from '../../domain/errors/errors.js';
import { isPlainObject } from '../../domain/values/json-value.js';

/** What is known about a failed call. */
export interface VertexFailure {
  /** The HTTP status; missing without an answer. */
  readonly httpStatus?: number | undefined;
  /** Google's name of the status, such as `RESOURCE_EXHAUSTED`. */
  readonly vertexStatus?: string | undefined;
  /** How long Google asked to wait. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * A call to Vertex AI failed. The message has no token, no content of events and no text of the server.
 *
 * @example if (error instanceof VertexError && error.httpStatus === 429) await later(error.retryAfterMs ?? 60_000);
 */
export class VertexError extends StoreUnavailableError implements VertexFailure {
  readonly httpStatus: number | undefined;
  readonly vertexStatus: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(reason: string, outcomeUnknown: boolean, failure: VertexFailure = {}) {
    super(reason, outcomeUnknown, { publicReason: 'The session store cannot be used now.' });
    this.httpStatus = failure.httpStatus;
    this.vertexStatus = failure.vertexStatus;
    this.retryAfterMs = failure.retryAfterMs;
  }

  override withOutcome(outcomeUnknown: boolean): VertexError {
    return new VertexError(this.reason, outcomeUnknown, this);
  }
}

const ADVICE: Readonly<Record<number, string>> = {
  400: 'Check the names of project, location and reasoning engine, and the size of the event.',
  401: 'Google refused a new access token too: check the application default credentials.',
  403: 'Give the account the role roles/aiplatform.user, and enable the Vertex AI API.',
  404: 'Check that the reasoning engine exists in this project and location.',
  429: 'The quota of the project is used up: ask for more, or write less.',
};

/** The error of an answer that is no success. */
export function refusalError(
  httpStatus: number,
  body: unknown,
  outcomeUnknown: boolean,
  retryAfterMs?: number,
): VertexError {
  const vertexStatus = statusIn(body);
  const fields = fieldsIn(body);
  const said = [httpStatus, vertexStatus, ...fields].filter((part) => part !== undefined).join(' ');
  const advice = ADVICE[httpStatus];
  return new VertexError(`Vertex AI answered ${said}.${advice ? ` ${advice}` : ''}`, outcomeUnknown, {
    httpStatus,
    vertexStatus,
    retryAfterMs,
  });
}

/** The fields of what should be an object. */
function toErrorFields(value: unknown): Readonly<Record<string, unknown>> {
  return isPlainObject(value) ? value : {};
}

function errorIn(body: unknown): Readonly<Record<string, unknown>> {
  return toErrorFields(toErrorFields(body).error);
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function statusIn(body: unknown): string | undefined {
  const { status } = errorIn(body);
  return typeof status === 'string' && /^[A-Z_]{1,40}$/.test(status) ? status : undefined;
}

/** Names of fields only, since messages of the server quote values. */
function fieldsIn(body: unknown): string[] {
  const violations = listIn(errorIn(body).details).flatMap((detail) => listIn(toErrorFields(detail).fieldViolations));
  return violations
    .map((violation) => String(toErrorFields(violation).field))
    .filter((field) => /^[\w.[\]]{1,80}$/.test(field));
}

/** Whether the server does not know the field `rawEvent`. */
export function refusesRawEvent(body: unknown): boolean {
  const { message } = errorIn(body);
  return fieldsIn(body).some(namesRawEvent) || (typeof message === 'string' && namesRawEvent(message));
}

function namesRawEvent(text: string): boolean {
  return /raw_?event/i.test(text);
}
