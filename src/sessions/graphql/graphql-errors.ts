import { Logger } from '@nestjs/common';
import { GraphQLError } from 'graphql';
import { problemOf } from '../faces/problems.js';

const logger = new Logger('SessionsGraphql');

/** An error as a client gets it, with the code that REST gives; what is nobody's business outside is in the log. */
export function graphqlErrorOf(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const { detail, code, status, path, currentVersion, outcomeUnknown, eventId } = problemOf(error);
  if (status >= 500) logger.error(detail, error instanceof Error ? error.stack : undefined);
  const extensions = {
    code,
    status,
    ...(path !== undefined && { path }),
    ...(currentVersion !== undefined && { currentVersion }),
    ...(outcomeUnknown !== undefined && { outcomeUnknown }),
    ...(eventId !== undefined && { eventId }),
  };
  return new GraphQLError(detail, { extensions });
}

/** What a server answers, as far as it is used here. */
interface FormattedError {
  readonly message: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Servers name every refused document alike; the code that the refusal has is brought back, with a status. */
export function formatGraphqlError<Formatted extends FormattedError>(formatted: Formatted, error: unknown): Formatted {
  const own = codeOf(error instanceof GraphQLError ? error.originalError : undefined);
  const { code = 'INTERNAL_SERVER_ERROR', status, ...extensions } = { ...formatted.extensions, ...own };
  return { ...formatted, extensions: { ...extensions, code, status: status ?? statusFor(String(code)) } };
}

function codeOf(error: unknown): { code?: unknown; status?: unknown } {
  if (!(error instanceof GraphQLError) || error.extensions.code === undefined) return {};
  const { code, status } = error.extensions;
  return { code, status };
}

function statusFor(code: string): number {
  return { INTERNAL_SERVER_ERROR: 500, UNAUTHENTICATED: 401, FORBIDDEN: 403 }[code] ?? 400;
}
