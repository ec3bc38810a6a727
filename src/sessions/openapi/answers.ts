import { titleOf } from '../faces/problems.js';
import { type Answer, type Header, type MediaType, type Reference, type Schema, schemaRef } from './document-types.js';

export const HEADERS: Readonly<Record<string, Header>> = {
  ETag: {
    description:
      'The version of the session, for `If-Match`. After a write: the version with this write as the last event of the log.',
    required: true,
    schema: { type: 'string', pattern: '^"\\d+"$' },
  },
  ReplayedETag: {
    description: 'The version that the session had with this event as its last one; missing where nothing is stored.',
    schema: { type: 'string', pattern: '^"\\d+"$' },
  },
  CacheControl: { description: '`no-store`.', required: true, schema: { type: 'string', enum: ['no-store'] } },
  Link: { description: 'Other pages, as RFC 8288 has it: `first`, `prev`, `next`.', schema: { type: 'string' } },
  Location: { description: 'The path of the new session.', required: true, schema: { type: 'string' } },
  IdempotentReplayed: {
    description: '`true` where the event had been stored before, and nothing was stored now.',
    schema: { type: 'string', enum: ['true'] },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  RetryAfterHaste: {
    description: 'Seconds to wait before the next try, where what counts the requests says so.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
};

const HEADER_NAMES = {
  ETag: 'ETag',
  Link: 'Link',
  Location: 'Location',
  'Retry-After': 'RetryAfter',
} as const;

/** Of an event that is not new. */
export const REPLAY_HEADERS: Readonly<Record<string, Reference>> = {
  ETag: { $ref: '#/components/headers/ReplayedETag' },
  'Idempotent-Replayed': { $ref: '#/components/headers/IdempotentReplayed' },
};

/** Of an answer that whatever counts requests gives; this app's says when to come again. */
const HASTE_HEADERS: Readonly<Record<string, Reference>> = {
  'Retry-After': { $ref: '#/components/headers/RetryAfterHaste' },
};

type HeaderName = keyof typeof HEADER_NAMES;

/** An answer with its headers; all of them say that nothing may be kept in a cache. */
export function answer(
  description: string,
  content: Readonly<Record<string, MediaType>> | undefined,
  ...headers: HeaderName[]
): Answer {
  const named = headers.map((name) => [name, { $ref: `#/components/headers/${HEADER_NAMES[name]}` }] as const);
  return {
    description,
    headers: { 'Cache-Control': { $ref: '#/components/headers/CacheControl' }, ...Object.fromEntries(named) },
    ...(content && { content }),
  };
}

export function json(schema: string | Schema, example?: unknown): Record<string, MediaType> {
  const described = typeof schema === 'string' ? schemaRef(schema) : schema;
  return { 'application/json': { schema: described, ...(example !== undefined && { example }) } };
}

interface ProblemKind {
  readonly name: string;
  readonly description: string;
  readonly code: string;
}

const PROBLEMS = {
  400: {
    name: 'BadRequest',
    description: 'Something in the request breaks a rule; `path` says where.',
    code: 'INVALID_INPUT',
  },
  401: {
    name: 'Unauthorized',
    description: 'Whoever asks has to say who they are, where the app wants to know.',
    code: 'UNAUTHENTICATED',
  },
  403: { name: 'Forbidden', description: 'Whoever asks may not do this.', code: 'FORBIDDEN' },
  404: {
    name: 'NotFound',
    description: 'There is no such session, or it is none of the business of whoever asks.',
    code: 'SESSION_NOT_FOUND',
  },
  409: { name: 'Conflict', description: 'The id is taken by something else.', code: 'SESSION_EXISTS' },
  412: {
    name: 'PreconditionFailed',
    description: 'The session is at another version; `currentVersion` says at which.',
    code: 'STALE_SESSION',
  },
  413: { name: 'ContentTooLarge', description: 'Too large, too deep, or too many keys.', code: 'LIMIT_EXCEEDED' },
  415: { name: 'UnsupportedMediaType', description: 'The body is not JSON.', code: 'UNSUPPORTED_MEDIA_TYPE' },
  429: {
    name: 'TooManyRequests',
    description: 'There were too many requests, where the app counts them.',
    code: 'TOO_MANY_REQUESTS',
  },
  500: { name: 'InternalServerError', description: 'The log of the server says why.', code: 'INTERNAL' },
  503: {
    name: 'ServiceUnavailable',
    description: 'The store did not answer. With `outcomeUnknown`, send an append again under the same id.',
    code: 'STORE_UNAVAILABLE',
  },
} as const satisfies Readonly<Record<number, ProblemKind>>;

export type ProblemStatus = keyof typeof PROBLEMS;

export const PROBLEM_ANSWERS: Readonly<Record<string, Answer>> = Object.fromEntries(
  Object.entries(PROBLEMS).map(([status, { name, description, code }]) => [
    name,
    problemAnswer(Number(status), code, description),
  ]),
);

/** An answer that says what went wrong. */
export function problemAnswer(status: number, code: string, description: string): Answer {
  const example = { type: 'about:blank', title: titleOf(status), status, detail: description, code };
  const content = { 'application/problem+json': { schema: schemaRef('Problem'), example } };
  const described = answer(description, content, ...(status === 503 ? (['Retry-After'] as const) : []));
  return status === 429 ? { ...described, headers: { ...described.headers, ...HASTE_HEADERS } } : described;
}

/** The problems of an operation; any may meet a wrong request, what the app has in front, and a store that does not answer. */
export function problems(...statuses: ProblemStatus[]): Record<string, Reference> {
  const all = [400, 401, ...statuses, 429, 500, 503] as const;
  return Object.fromEntries(all.map((status) => [status, { $ref: `#/components/responses/${PROBLEMS[status].name}` }]));
}
