import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { GraphQLError } from 'graphql';
import { logProblem, problemOf } from '../transport/problems.js';
import { SessionNotFoundError } from '../domain/errors/errors.js';
import { HiddenDeletion } from '../transport/access-refusals.js';
import { takeEnd } from '../transport/audit/audited-call.js';
import { identifyCall } from '../transport/identify-call.js';

const logger = new Logger('SessionsGraphql');

/**
 * Converts an error to a GraphQL error with the code of REST. Unexpected errors are logged without exposing details.
 *
 * @param ids what has the ids of the session, for the log
 */
export function graphqlErrorOf(error: unknown, ids?: object): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const problem = problemOf(error);
  const { type: _type, title: _title, detail, ...extensions } = problem;
  logProblem(logger, error, problem, ids);
  return new GraphQLError(detail, { extensions });
}

/** The part of a formatted error that is used here. */
interface FormattedError {
  readonly message: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Restores the code of a refused document, which Apollo replaces, and adds a status. */
export function formatGraphqlError<Formatted extends FormattedError>(formatted: Formatted, error: unknown): Formatted {
  const own = getCodeAndStatus(error instanceof GraphQLError ? error.originalError : undefined);
  const { code = 'INTERNAL_SERVER_ERROR', status, ...extensions } = { ...formatted.extensions, ...own };
  return { ...formatted, extensions: { ...extensions, code, status: status ?? statusFor(String(code)) } };
}

function getCodeAndStatus(error: unknown): { code?: unknown; status?: unknown } {
  if (!(error instanceof GraphQLError) || error.extensions.code === undefined) return {};
  const { code, status } = error.extensions;
  return { code, status };
}

function statusFor(code: string): number {
  return { INTERNAL_SERVER_ERROR: 500, UNAUTHENTICATED: 401, FORBIDDEN: 403 }[code] ?? 400;
}

/** Converts errors of resolvers and guards to GraphQL errors with codes. */
@Catch()
export class GraphqlProblemFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): GraphQLError | Promise<true> {
    // Unless the resolver has told it.
    takeEnd(identifyCall(host))?.('failed', error);
    return error instanceof HiddenDeletion
      ? Promise.resolve(true)
      : graphqlErrorOf(error, host.getArgByIndex<object>(1));
  }
}

/** Returns null for a missing or forbidden session. It is a promise, since Nest ignores a plain null. */
@Catch(SessionNotFoundError)
export class NullForMissingFilter implements ExceptionFilter {
  catch(): Promise<null> {
    return Promise.resolve(null);
  }
}
