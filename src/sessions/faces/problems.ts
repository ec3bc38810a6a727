import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import {
  InvalidInputError,
  LimitExceededError,
  SessionsError,
  StaleSessionError,
  StoreUnavailableError,
} from '../domain/errors.js';

/** An error as RFC 9457 describes it, with the stable code of this package. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  /** Where in the request it is. */
  readonly path?: string;
  readonly currentVersion?: number;
  readonly outcomeUnknown?: boolean;
  /** The id under which to send the event again. */
  readonly eventId?: string;
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Of what this package does not refuse itself. */
const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  413: 'LIMIT_EXCEEDED',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
};

/**
 * What an error tells the caller; what is nobody's business outside stays inside.
 *
 * @example return reply.status(problemOf(error).status).send(problemOf(error));
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof SessionsError) {
    return { ...problem(error.status, error.code, error.publicMessage), ...detailsOf(error) };
  }
  if (isUnreadable(error)) return problem(400, 'INVALID_INPUT', 'The body is no JSON that can be read.');
  if (error instanceof HttpException) return problem(error.getStatus(), codeFor(error.getStatus()), error.message);
  const status = clientErrorOf(error);
  if (status !== undefined) return problem(status, codeFor(status), (error as Error).message);
  return problem(500, 'INTERNAL', 'The request could not be answered; the log of the server says why.');
}

function problem(status: number, code: string, detail: string): Problem {
  return { type: 'about:blank', title: titleOf(status), status, detail, code };
}

/** As HTTP calls it, which is what titles are where the type is `about:blank`. */
export function titleOf(status: number): string {
  // Node goes by the name that RFC 9110 took back.
  if (status === 413) return 'Content Too Large';
  return STATUS_CODES[status] ?? (status < 500 ? 'Bad Request' : 'Internal Server Error');
}

function detailsOf(error: SessionsError): Partial<Problem> {
  if (error instanceof StaleSessionError) return { currentVersion: error.currentVersion };
  if (error instanceof StoreUnavailableError) {
    const { outcomeUnknown, eventId } = error;
    return { outcomeUnknown, ...(eventId !== undefined && { eventId }) };
  }
  const isAboutPath = error instanceof InvalidInputError || error instanceof LimitExceededError;
  return isAboutPath && error.path !== undefined ? { path: error.path } : {};
}

function codeFor(status: number): string {
  return CODES[status] ?? (status < 500 ? 'INVALID_INPUT' : 'INTERNAL');
}

/** Parsers quote what they could not read, which may be part of a conversation. */
function isUnreadable(error: unknown): boolean {
  if (error instanceof HttpException) return error.getStatus() === 400 && /\bJSON\b/.test(error.message);
  // One without a status is of the server's own making, such as a store that holds what is no JSON.
  return error instanceof SyntaxError && clientErrorOf(error) !== undefined;
}

/** What body parsers and frameworks say of a request that they could not read. */
function clientErrorOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { status, statusCode } = error as { status?: unknown; statusCode?: unknown };
  const code = status ?? statusCode;
  return typeof code === 'number' && code >= 400 && code < 500 ? code : undefined;
}
