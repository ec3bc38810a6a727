import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { StaleSessionError } from '../domain/errors.js';
import { HiddenDeletion } from '../transport/access-checks.js';
import { HttpExchange } from './http-exchange.js';
import { PROBLEM_TYPE, type Problem, problemOf, titleOf } from '../transport/problems.js';

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

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const exchange = new HttpExchange(http.getRequest(), http.getResponse());
    if (error instanceof HiddenDeletion) {
      exchange.setStatus(204);
      http.getResponse<Answering>().send('');
      return;
    }
    const problem = asAnswerTo(exchange, error);
    if (problem.status >= 500) this.#logger.error(problem.detail, error instanceof Error ? error.stack : undefined);
    exchange.setStatus(problem.status);
    exchange.setSecurityHeaders();
    exchange.setHeader('Content-Type', PROBLEM_TYPE);
    if (problem.status === 503) exchange.setHeader('Retry-After', '1');
    http.getResponse<Answering>().send(JSON.stringify(this.bodyOf(problem)));
  }

  /** What clients get. */
  protected bodyOf(problem: Problem): object {
    return problem;
  }
}

/** A failed `If-Match` is a 412 instead of a 409. */
function asAnswerTo(exchange: HttpExchange, error: unknown): Problem {
  const problem = problemOf(error);
  const isOnCondition = error instanceof StaleSessionError && exchange.header('if-match') !== undefined;
  return isOnCondition ? { ...problem, status: 412, title: titleOf(412) } : problem;
}
