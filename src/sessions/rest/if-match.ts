import { InvalidInputError, StaleSessionError } from '../domain/errors/errors.js';
import { type Problem, problemOf, findReasonPhrase } from '../transport/problems.js';
import type { HttpExchange } from './http-exchange.js';

/** The expected version, from `If-Match`. */
export function expectedVersionIn(exchange: HttpExchange): number | undefined {
  const tag = exchange.header('if-match');
  if (tag === undefined || tag.trim() === '*') return undefined;
  const version = /^\s*(?:W\/)?"(\d{1,15})"\s*$/.exec(tag)?.[1];
  if (version === undefined) throw new InvalidInputError('must be one entity tag, such as "5"', 'If-Match');
  return Number(version);
}

/** The problem of an error. A failed `If-Match` is a 412 instead of a 409. */
export function problemFor(exchange: HttpExchange, error: unknown): Problem {
  const problem = problemOf(error);
  const isOnCondition = error instanceof StaleSessionError && exchange.header('if-match') !== undefined;
  return isOnCondition ? { ...problem, status: 412, title: findReasonPhrase(412) } : problem;
}
