import { type ArgumentsHost, Catch, type ExceptionFilter, Inject, Logger, Optional } from '@nestjs/common';
import { NotSignedInError } from '../auth/auth-errors.js';
import { QuotaExceededError } from '../domain/errors/quota-error.js';
import { HiddenDeletion } from '../transport/access-refusals.js';
import { takeEnd } from '../transport/audit/audited-call.js';
import { NoRoomError, RETRY_AFTER_SECONDS } from '../transport/answers.js';
import { identifyCall } from '../transport/identify-call.js';
import { SESSION_LINKS, type SessionLinks } from '../transport/session-links.js';
import { HttpExchange } from './http-exchange.js';
import { problemFor } from './if-match.js';
import { breakStream } from './sent-events.js';
import { PROBLEM_TYPE, type Problem, logProblem } from '../transport/problems.js';

interface Answering {
  /** Of Express. */
  json?(body: unknown): unknown;
  /** Of Fastify. */
  send(body: unknown): unknown;
}

/**
 * Converts errors to problem bodies (RFC 9457), without stacks or content of conversations.
 *
 * @example app.useGlobalFilters(new ProblemFilter()); // also for unknown paths
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #logger = new Logger(ProblemFilter.name);

  /** @param links to the sessions that problems are about, in the log and in the body */
  constructor(@Optional() @Inject(SESSION_LINKS) private readonly links?: SessionLinks) {}

  catch(error: unknown, host: ArgumentsHost): void {
    // Unless the handler has told it.
    takeEnd(identifyCall(host))?.('failed', error);
    const http = host.switchToHttp();
    const exchange = new HttpExchange(http.getRequest(), http.getResponse());
    if (breakStream(exchange.nodeResponse, error)) return;
    if (error instanceof HiddenDeletion) {
      exchange.setStatus(204);
      http.getResponse<Answering>().send('');
      return;
    }
    const problem = this.#linked(problemFor(exchange, error), exchange);
    logProblem(this.#logger, error, problem, exchange.request.params, problem.inspector);
    exchange.setStatus(problem.status);
    exchange.setSecurityHeaders();
    exchange.setHeader('Content-Type', PROBLEM_TYPE);
    if (error instanceof NotSignedInError) exchange.setHeader('WWW-Authenticate', error.challenge);
    const isPassing = problem.code === 'RUN_LIMIT_REACHED' || error instanceof NoRoomError;
    if (problem.status === 503 || isPassing) exchange.setHeader('Retry-After', RETRY_AFTER_SECONDS);
    if (error instanceof QuotaExceededError && error.retryAfterMs !== undefined)
      exchange.setHeader('Retry-After', String(Math.ceil(error.retryAfterMs / 1_000)));
    // The next request may reach another instance, which a kept connection would not.
    if (problem.code === 'AGENTS_CLOSING') exchange.setHeader('Connection', 'close');
    http.getResponse<Answering>().send(JSON.stringify(this.bodyOf(problem)));
  }

  /** Those who may not see the session get no link to it. */
  #linked(problem: Problem, { request: { params } }: HttpExchange): Problem & { readonly inspector?: string } {
    const { appName, userId, sessionId } = params ?? {};
    const isShown = ![401, 403, 404].includes(problem.status);
    if (!this.links || !isShown || appName === undefined || userId === undefined || sessionId === undefined)
      return problem;
    return { ...problem, inspector: this.links.linkTo({ appName, userId, sessionId }) };
  }

  /** What clients get. */
  protected bodyOf(problem: Problem): object {
    return problem;
  }
}
