import { STATUS_CODES } from 'node:http';
import { types } from 'node:util';
import { HttpException, type Logger } from '@nestjs/common';
import {
  InvalidInputError,
  LimitExceededError,
  SessionsError,
  StaleSessionError,
  StoreUnavailableError,
  TurnHeldError,
} from '../domain/errors/errors.js';
import { BudgetExceededError, type ExceededBudget } from '../domain/errors/budget-error.js';
import { QuotaExceededError, type QuotaUse } from '../domain/errors/quota-error.js';
import { stackOf } from '../domain/errors/thrown-text.js';
import { withLink } from './session-links.js';
import { StreamExpired, StreamStalled } from './stream-access.js';

/** An error as RFC 9457 describes it, with the stable code of this package. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  /** Where in the request the problem is. */
  readonly path?: string;
  readonly currentVersion?: number;
  readonly outcomeUnknown?: boolean;
  /** The id to retry the append with. */
  readonly eventId?: string;
  /** The ids to retry the append of several events with. */
  readonly eventIds?: readonly string[];
  /** Who holds the turn, and until when. */
  readonly holder?: string;
  readonly expiresAt?: number;
  /** The budget that is used up. */
  readonly budget?: ExceededBudget;
  /** The quota that is used up. */
  readonly quota?: QuotaUse;
  /** Why an agent failed. */
  readonly reason?: string;
  /** Whether it may succeed later. */
  readonly retryable?: boolean;
  /** The invocation that failed. */
  readonly invocationId?: string;
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export const NO_JSON = 'Send Content-Type: application/json, in UTF-8, and {} where there is nothing to say.';

/** Codes of errors from outside this package. */
const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  413: 'LIMIT_EXCEEDED',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
};

/**
 * Converts an error to a problem. Details of unexpected errors are not exposed.
 *
 * @example return reply.status(problemOf(error).status).send(problemOf(error));
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof SessionsError) {
    return {
      ...problem(error.status, error.code, error.publicMessage),
      ...describeErrorDetails(error),
      ...error.publicDetails,
    };
  }
  if (error instanceof ShownError) return error.answer;
  if (error instanceof StreamExpired) return problem(503, 'STREAM_EXPIRED', error.message);
  if (error instanceof StreamStalled) return problem(503, 'STREAM_STALLED', error.message);
  if (isTooLong(error)) return problem(413, 'LIMIT_EXCEEDED', TOO_LONG);
  if (isUnreadable(error)) return problem(400, 'INVALID_INPUT', 'The body is not valid JSON.');
  if (error instanceof HttpException) return problem(error.getStatus(), codeFor(error.getStatus()), detailOf(error));
  const status = clientErrorOf(error);
  if (status !== undefined) return problem(status, codeFor(status), detailOf(error as Error));
  return problem(500, 'INTERNAL', 'The request could not be answered; the log of the server says why.');
}

/**
 * Says in the log of the server why a request failed, if its client does not learn it.
 *
 * @param ids what has the ids of the session: parameters, arguments or a key
 */
export function logProblem(logger: Logger, error: unknown, answer: Problem, ids?: object, link?: string): void {
  if (isForLog(error, answer)) {
    logger.error(withLink(answer.detail + idsIn(ids), link), stackOf(error));
  }
}

/**
 * The problem that a client is told of. What it does not learn is logged, with the ids of the session.
 *
 * @example const { status, detail, code } = reportProblem(logger, error, { appName, userId, sessionId });
 */
export function reportProblem(logger: Logger, error: unknown, ids?: object): Problem {
  const answer = problemOf(error);
  logProblem(logger, error, answer, ids);
  return answer;
}

/** An error of which a client learns no more than its message. The cause has the rest. */
class ShownError extends Error {
  readonly code: string;

  constructor(
    readonly answer: Problem,
    cause: unknown,
  ) {
    super(answer.detail, { cause });
    this.code = answer.code;
  }
}

/**
 * For frameworks that tell clients the message of any error: throws another one, with the first as `cause`, if a message says more than
 * clients may know, such as the address of a store. The log of the server says what it is.
 *
 * @param isShown which errors of the framework clients may know
 * @example return withShownErrors(logger, () => this.sessions.getSession(key));
 */
export async function withShownErrors<Result>(
  logger: Logger,
  work: () => Promise<Result>,
  isShown: (error: unknown) => boolean = () => false,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const answer = problemOf(error);
    if (isShown(error) || (error instanceof Error && error.message === answer.detail)) throw error;
    logProblem(logger, error, answer);
    throw new ShownError(answer, error);
  }
}

const LOGGED_IDS = ['appName', 'userId', 'sessionId'];

/** As JSON, since clients choose them. */
function idsIn(ids: object = {}): string {
  const found = LOGGED_IDS.flatMap((name) => {
    const id: unknown = Reflect.get(ids, name);
    return typeof id === 'string' ? [`${name} ${JSON.stringify(id)}`] : [];
  });
  return found.length > 0 ? ` (${found.join(', ')})` : '';
}

function isForLog(error: unknown, { status }: Problem): boolean {
  if (status < 500 || error instanceof StreamExpired || error instanceof StreamStalled) return false;
  if (error instanceof ShownError) return false;
  return !(error instanceof SessionsError && error.isLogged);
}

function problem(status: number, code: string, detail: string): Problem {
  return { type: 'about:blank', title: findReasonPhrase(status), status, detail, code };
}

/** The HTTP reason phrase, which RFC 9457 requires as title for `about:blank`. */
export function findReasonPhrase(status: number): string {
  // Node still has the old name.
  if (status === 413) return 'Content Too Large';
  return STATUS_CODES[status] ?? (status < 500 ? 'Bad Request' : 'Internal Server Error');
}

function describeErrorDetails(error: SessionsError): Partial<Problem> {
  if (error instanceof BudgetExceededError) return { budget: error.budget };
  if (error instanceof QuotaExceededError) return { quota: error.quota };
  if (error instanceof TurnHeldError) return { holder: error.holder, expiresAt: error.expiresAt };
  if (error instanceof StaleSessionError) return { currentVersion: error.currentVersion };
  if (error instanceof StoreUnavailableError) {
    const { outcomeUnknown, eventId, eventIds } = error;
    return { outcomeUnknown, ...(eventId === undefined ? eventIds && { eventIds } : { eventId }) };
  }
  const isAboutPath = error instanceof InvalidInputError || error instanceof LimitExceededError;
  return isAboutPath && error.path !== undefined ? { path: error.path } : {};
}

function codeFor(status: number): string {
  return CODES[status] ?? (status < 500 ? 'INVALID_INPUT' : 'INTERNAL');
}

const TOO_LONG = 'The answer is longer than a server can write. Ask for less: a smaller page, fewer keys of state.';

/** The error of V8 for a string above its maximum length. */
function isTooLong(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Invalid string length';
}

/** Messages of parsers quote the input, which may be part of a conversation. */
function isUnreadable(error: unknown): boolean {
  if (error instanceof HttpException) return error.getStatus() === 400 && /\bJSON\b/.test(error.message);
  // Without a status, the error is not about the request: a store may hold invalid JSON.
  return error instanceof SyntaxError && clientErrorOf(error) !== undefined;
}

/** Parsers only say that they do not take a content type, that of Fastify in the cause. */
function detailOf({ message, cause }: Error): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' || message.startsWith('unsupported charset') ? NO_JSON : message;
}

/**
 * The 4xx status that a parser, a router or `http-errors` put on an error. An error of the app may have a status too, such as that of a service which
 * the app called: it says nothing about the request.
 */
function clientErrorOf(error: unknown): number | undefined {
  if (!isOfRequest(error)) return undefined;
  const { status, statusCode } = error;
  const code = status ?? statusCode;
  return typeof code === 'number' && code >= 400 && code < 500 ? code : undefined;
}

/** What parsers, routers and middleware write on their errors. */
interface RequestError extends Error {
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly code?: unknown;
  readonly expose?: unknown;
}

/** Of streams that inflate a body. */
const BROKEN_BODY = /^(Z_|ERR__ERROR_)/;

function isOfRequest(error: unknown): error is RequestError {
  if (!(error instanceof Error || types.isNativeError(error))) return false;
  const { code, expose, status, statusCode }: RequestError = error;
  if (error instanceof URIError || error instanceof SyntaxError) return true;
  // `http-errors` knows its own by this: they are for clients.
  if (expose === true && typeof status === 'number' && status === statusCode) return true;
  if (typeof code !== 'string') return false;
  // Node: the client left in the middle of its body.
  return code.startsWith('FST_') || code === 'ECONNRESET' || (expose === true && BROKEN_BODY.test(code));
}
