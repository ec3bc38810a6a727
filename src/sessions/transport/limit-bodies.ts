import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { type INestApplication, PayloadTooLargeException } from '@nestjs/common';
import { withDefaults } from '../../config/with-defaults.js';
import { checkOptions } from '../domain/values/given-options.js';
import { BodyBudget } from './body-budget.js';
import { findClientAddress } from './client-address.js';
import { SESSIONS_BODY_LIMIT } from './http-defaults.js';
import { type Refusal, refuse } from './malformed-http.js';

/** Options of {@link limitBodies}. Sizes are in bytes. */
export interface BodyLimitOptions {
  /** The largest body of routes that take events. Default: 4 MiB, which is an event of the default limit with JSON escapes. */
  readonly maxEventBytes?: number | undefined;
  /** The largest body of all other routes. Default: 256 KiB. */
  readonly maxBytes?: number | undefined;
  /** Paths of your own that take bodies as large as events, such as `/api/chat`, or a pattern. */
  readonly eventPaths?: readonly (string | RegExp)[] | undefined;
  /** The bytes of all bodies that the process reads or works on at once. 0 = no limit. Default: 64 MiB. */
  readonly maxBytesInFlight?: number | undefined;
  /** The same for one address. 0 = no limit. Default: 8 MiB. */
  readonly maxBytesInFlightPerAddress?: number | undefined;
  /** Whether compressed bodies are taken. Each then counts as the largest body of its route. Only Express inflates. Default: false. */
  readonly inflate?: boolean | undefined;
  /** The number of proxies in front that add to `X-Forwarded-For`. Default: 0. */
  readonly trustedProxies?: number | undefined;
  /** How long a request may take to arrive. Default: 30. */
  readonly requestTimeoutSeconds?: number | undefined;
}

const KIB = 1024;

const DEFAULTS = {
  maxEventBytes: SESSIONS_BODY_LIMIT,
  maxBytes: 256 * KIB,
  eventPaths: [],
  maxBytesInFlight: 64 * KIB * KIB,
  maxBytesInFlightPerAddress: 8 * KIB * KIB,
  inflate: false,
  trustedProxies: 0,
  requestTimeoutSeconds: 30,
} satisfies BodyLimitOptions;

/** The routes of this package whose bodies hold events, state or messages, with whatever prefix. */
const EVENT_PATHS = [
  /\/sessions(\/[^/]+)?$/,
  /\/events(\/batch)?$/,
  /\/state$/,
  /\/run(_sse)?$/,
  /\/connect$/,
  /\/graphql$/,
];

type Limits = Required<{ [Name in keyof BodyLimitOptions]: NonNullable<BodyLimitOptions[Name]> }>;

/** The part of Nest's applications on Express and Fastify that is used here. */
interface ParsingApplication extends INestApplication {
  useBodyParser(type: 'json', options: Readonly<Record<string, unknown>>): unknown;
}

/** The part of Fastify that is used here. */
interface FastifyHooks {
  addHook(
    name: 'preParsing',
    hook: (request: { raw: IncomingMessage }, reply: unknown, body: Readable) => Promise<Readable>,
  ): unknown;
}

/**
 * Bounds what the bodies of all requests take, before a parser or a guard sees them: the size of each by its route, and the bytes of
 * all, and of one address, at once. A body without room is refused with 429 and `Retry-After`, a compressed one with 415. Call it
 * before the app listens, on Express or Fastify; it replaces `useBodyParser('json', …)`.
 *
 * @example
 * const app = await NestFactory.create<NestExpressApplication>(AppModule);
 * limitBodies(app, { eventPaths: ['/api/chat'] });
 * await app.listen(3000);
 */
export function limitBodies(app: INestApplication, options: BodyLimitOptions = {}): void {
  checkOptions('limitBodies', options, {
    maxEventBytes: 'count?',
    maxBytes: 'count?',
    eventPaths: 'list?',
    maxBytesInFlight: 'count?',
    maxBytesInFlightPerAddress: 'count?',
    inflate: 'flag?',
    trustedProxies: 'count?',
    requestTimeoutSeconds: 'seconds?',
  });
  const limits = withDefaults<Limits>(options, DEFAULTS);
  const server = app.getHttpServer() as Server;
  server.requestTimeout = limits.requestTimeoutSeconds * 1000;
  // With a longer time for the headers, Node gives the whole request that time.
  server.headersTimeout = Math.min(server.headersTimeout || Infinity, server.requestTimeout);
  app.use(reservation(limits));
  if (app.getHttpAdapter().getType() === 'fastify') countOnFastify(app, limits);
  else parseOnExpress(app as ParsingApplication, limits);
}

/** The middleware that looks at the headers alone. */
function reservation(limits: Limits) {
  const budget = new BodyBudget({
    maxBytes: limits.maxBytesInFlight,
    maxBytesPerAddress: limits.maxBytesInFlightPerAddress,
  });
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const declared = declaredBytes(request);
    if (declared === 0) {
      // Clients that always send the type need no body for it, but Fastify wants one.
      if (request.method === 'DELETE') delete request.headers['content-type'];
      next();
      return;
    }
    const limit = limitOf(request, limits);
    const isInflated = isCompressed(request);
    const refusal =
      isInflated && !limits.inflate
        ? COMPRESSED
        : declared > limit && declared !== Infinity
          ? tooLarge(limit)
          : undefined;
    const release = refusal
      ? undefined
      : budget.reserve(
          findClientAddress(request, limits.trustedProxies),
          isInflated ? limit : Math.min(declared, limit),
        );
    if (release === undefined) {
      if (refusal === undefined) response.setHeader('Retry-After', '1');
      refuse(response, refusal ?? NO_ROOM);
      return;
    }
    whenAnswered(response, release);
    next();
  };
}

/** The length of the body. A body in chunks does not say its own. */
function declaredBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Infinity;
  return Number(headers['content-length'] ?? 0);
}

function isCompressed({ headers }: IncomingMessage): boolean {
  return (headers['content-encoding'] ?? 'identity').trim().toLowerCase() !== 'identity';
}

function limitOf({ url = '' }: IncomingMessage, { maxBytes, maxEventBytes, eventPaths }: Limits): number {
  const path = /^[^?#]*/.exec(url)?.[0].replace(/(?<=.)\/+$/, '') ?? '';
  const takesEvents = [...EVENT_PATHS, ...eventPaths].some((known) =>
    typeof known === 'string' ? known === path : known.test(path),
  );
  return takesEvents ? maxEventBytes : maxBytes;
}

/** Calls `done` once, when the answer begins or the connection is gone. A stream that follows no longer needs the body. */
function whenAnswered(response: ServerResponse, done: () => void): void {
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
  response.writeHead = (...args: unknown[]) => {
    done();
    return writeHead(...args);
  };
  response.once('close', done);
}

/** Two parsers, since each has one limit. A body that the first one read is left alone by the second. */
function parseOnExpress(app: ParsingApplication, limits: Limits): void {
  const { maxBytes, maxEventBytes, inflate } = limits;
  const isSmall = (request: IncomingMessage): boolean => limitOf(request, limits) === maxBytes && isJson(request);
  app.useBodyParser('json', { limit: maxBytes, inflate, type: isSmall });
  app.useBodyParser('json', { limit: maxEventBytes, inflate });
}

function isJson({ headers }: IncomingMessage): boolean {
  return /^\s*application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');
}

/** Fastify has one limit for all routes. A body in chunks is counted as it comes. */
function countOnFastify(app: INestApplication, limits: Limits): void {
  const hooks = app.getHttpAdapter().getInstance() as FastifyHooks;
  hooks.addHook('preParsing', ({ raw }, _reply, body) => {
    const limit = limitOf(raw, limits);
    return Promise.resolve(declaredBytes(raw) === Infinity ? body.pipe(new Counted(limit)) : body);
  });
}

class Counted extends Transform {
  /** What Fastify compares with `Content-Length`. */
  receivedEncodedLength = 0;

  constructor(private readonly limit: number) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: Error | null, chunk?: Buffer) => void): void {
    this.receivedEncodedLength += chunk.length;
    if (this.receivedEncodedLength > this.limit) done(new PayloadTooLargeException(tooLarge(this.limit).detail));
    else done(null, chunk);
  }
}

const COMPRESSED: Refusal = {
  status: 415,
  code: 'UNSUPPORTED_MEDIA_TYPE',
  detail:
    'Send the body without compression (Content-Encoding), or let the server take it: limitBodies(app, { inflate: true }).',
};

const NO_ROOM: Refusal = {
  status: 429,
  code: 'TOO_MANY_REQUESTS',
  detail:
    'The server reads as many bytes of requests as it may at once, in all or from this address. Nothing was read. Try again in a second.',
};

function tooLarge(limit: number): Refusal {
  return {
    status: 413,
    code: 'LIMIT_EXCEEDED',
    detail: `The body is larger than the ${limit} bytes that this path takes (limitBodies: maxBytes, maxEventBytes, eventPaths).`,
  };
}
