import { type Type, applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, type ApiResponseOptions, getSchemaPath } from '@nestjs/swagger';
import { findReasonPhrase } from '../transport/problems.js';
import { PROBLEM } from '../surface/problem-shape.js';
import { dtoOf } from './make-dto.js';

export type ResponseHeaders = NonNullable<ApiResponseOptions['headers']>;
type Content = NonNullable<ApiResponseOptions['content']>;
type Schema = Extract<ApiResponseOptions, { readonly schema: unknown }>['schema'];

const HEADERS = {
  'Cache-Control': {
    description: '`no-store`.',
    required: true,
    schema: { type: 'string', enum: ['no-store'] as string[] },
  },
  ETag: {
    description:
      'The version of the session, for `If-Match`. After a write: the version with this write as last event.',
    required: true,
    schema: { type: 'string', pattern: '^"\\d+"$' },
  },
  Link: { description: 'Other pages, as in RFC 8288: `first`, `prev`, `next`.', schema: { type: 'string' } },
  Location: { description: 'The path of the new session.', required: true, schema: { type: 'string' } },
} as const satisfies ResponseHeaders;

const STREAM_HEADERS = {
  'Cache-Control': {
    ...HEADERS['Cache-Control'],
    description: '`no-store, no-transform`.',
    schema: { type: 'string', enum: ['no-store, no-transform'] as string[] },
  },
} as const satisfies ResponseHeaders;

const RETRY_AFTER = {
  description: 'Seconds to wait before the next try.',
  schema: { type: 'string', pattern: '^\\d+$' },
};

interface ResponseDescription {
  readonly type?: Type<unknown>;
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly content?: Content;
  /** Besides `Cache-Control`, which all responses have. */
  readonly headers?: readonly (keyof typeof HEADERS)[];
  readonly ownHeaders?: ResponseHeaders;
}

/** Documents a response with its body and its headers. */
export function ApiResult(
  status: number,
  description: string,
  { headers = [], ownHeaders, ...body }: ResponseDescription = {},
): MethodDecorator {
  const named = (['Cache-Control', ...headers] as const).map((name) => [name, HEADERS[name]] as const);
  return ApiResponse({ status, description, ...body, headers: { ...Object.fromEntries(named), ...ownHeaders } });
}

/**
 * Documents a stream of server-sent events as the result of a route.
 *
 * @example
 * \@Post('run')
 * \@ApiEventStream('The run, in events of the protocol.', 'data: {"type":"begin"}\n\n')
 * run() {}
 */
export function ApiEventStream(description: string, example: unknown): MethodDecorator {
  const content = { 'text/event-stream': { schema: { type: 'string' }, example } };
  return ApiResult(200, description, { content, ownHeaders: STREAM_HEADERS });
}

interface ProblemDescription {
  readonly description: string;
  readonly code: string;
}

export const PROBLEMS = {
  400: { description: 'The request breaks a rule; `path` says where.', code: 'INVALID_INPUT' },
  401: { description: 'Sign in first.', code: 'UNAUTHENTICATED' },
  403: { description: 'You may not do this, or not write this.', code: 'FORBIDDEN' },
  404: { description: 'There is no such session, or you may not see it.', code: 'SESSION_NOT_FOUND' },
  409: { description: 'The id is already in use.', code: 'SESSION_EXISTS' },
  412: { description: 'The session is at another version, `currentVersion`.', code: 'STALE_SESSION' },
  413: { description: 'Too large, too deep, or too many keys.', code: 'LIMIT_EXCEEDED' },
  415: { description: 'The request is not `application/json`.', code: 'UNSUPPORTED_MEDIA_TYPE' },
  429: {
    description: 'Too many requests or streams, or no memory for the answer. Try again.',
    code: 'TOO_MANY_REQUESTS',
  },
  500: { description: 'An error in the server; its log says why.', code: 'INTERNAL' },
  503: {
    description: 'The store did not answer. With `outcomeUnknown`, send an append again with the same id.',
    code: 'STORE_UNAVAILABLE',
  },
} as const satisfies Readonly<Record<number, ProblemDescription>>;

/** Documents the problems of an operation, and those that every operation may have. */
export const ApiProblems = (...statuses: (keyof typeof PROBLEMS)[]): MethodDecorator =>
  applyDecorators(
    ...([400, 401, ...statuses, 429, 500, 503] as const).map((status) => ApiProblem(status, PROBLEMS[status])),
  );

/**
 * Documents a response with a problem body (RFC 9457).
 *
 * @example ApiProblem(409, { code: 'TURN_HELD', description: 'Another turn runs.' })
 */
export function ApiProblem(status: number, { code, description }: ProblemDescription): MethodDecorator {
  const example = { type: 'about:blank', title: findReasonPhrase(status), status, detail: description, code };
  const content = { 'application/problem+json': { schema: { $ref: getSchemaPath(dtoOf(PROBLEM)) }, example } };
  const ownHeaders = {
    ...(status === 503 && { 'Retry-After': { ...RETRY_AFTER, required: true } }),
    ...(status === 429 && { 'Retry-After': RETRY_AFTER }),
  };
  return applyDecorators(ApiExtraModels(dtoOf(PROBLEM)), ApiResult(status, description, { content, ownHeaders }));
}
