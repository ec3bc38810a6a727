import { upgradeStatusOf } from '../sessions/transport/upgrade-checks.js';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type INestApplication, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';

/** A request, with what the framework knows after the response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The pattern of the path, such as `/apps/:appName/state`: the path itself contains ids. */
  readonly pattern: () => string | undefined;
  readonly body: () => unknown;
}

interface ExpressRequest extends IncomingMessage {
  readonly originalUrl: string;
  readonly route?: { readonly path: string };
  readonly body?: unknown;
}

interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly routeOptions: { readonly url?: string };
  readonly body?: unknown;
}

interface FastifyInstance {
  addHook(
    name: 'onRequest',
    hook: (request: FastifyRequest, reply: { readonly raw: ServerResponse }, done: () => void) => void,
  ): unknown;
}

/** Handled before the routes. */
const GRAPHQL = '/graphql';
const HEALTH = /^\/health(\/|$)/;

const logger = new Logger('Requests');

/**
 * Logs one line per request when it ends: method, path pattern, status, duration and request id. It logs no content, ids of
 * users or tokens. Call it before other middleware.
 */
export function logRequests(app: INestApplication): void {
  const http = app.getHttpAdapter();
  if (http.getType() === 'fastify') {
    (http.getInstance() as FastifyInstance).addHook('onRequest', (request, { raw: response }, done) => {
      const pattern = (): string | undefined => request.routeOptions.url;
      follow({ request: request.raw, response, pattern, body: () => request.body });
      done();
    });
    return;
  }
  app.use((request: ExpressRequest, response: ServerResponse, next: () => void) => {
    const pattern = (): string | undefined => request.route?.path ?? graphqlIn(request.originalUrl);
    follow({ request, response, pattern, body: () => request.body });
    next();
  });
}

/** Logs WebSocket connections when they close. */
export function logWebSockets(server: Server): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const startedAt = performance.now();
    const id = requestIdOf(request);
    socket.once('close', () => {
      logger.log(line(request.method, graphqlIn(request.url), upgradeStatusOf(request), startedAt, id));
    });
  });
}

/** Logs WebSockets that were refused before the upgrade. */
export function logRefusedUpgrade(request: IncomingMessage, { status }: { readonly status: number }): void {
  logger.log(line(request.method, graphqlIn(request.url), status, performance.now(), requestIdOf(request)));
}

function follow({ request, response, pattern, body }: Exchange): void {
  const startedAt = performance.now();
  const id = requestIdOf(request);
  response.setHeader('X-Request-Id', id);
  response.once('close', () => {
    const path = pattern();
    const operation = path === GRAPHQL ? operationNameIn(body()) : undefined;
    const status = response.headersSent ? response.statusCode : undefined;
    const end = response.writableFinished ? '' : ', closed early';
    const text =
      line(request.method, [path ?? '(no route)', operation ?? []].flat().join(' '), status, startedAt, id) + end;
    if (status !== undefined && status >= 500) logger.warn(text);
    // Successful probes would fill the log.
    else if (HEALTH.test(path ?? '')) logger.debug(text);
    else logger.log(text);
  });
}

function line(method = '', what = '(no route)', status: number | undefined, startedAt: number, id: string): string {
  return `${method} ${what} ${status ?? '-'} ${Math.round(performance.now() - startedAt)} ms ${id}`;
}

function graphqlIn(url: string | undefined): string | undefined {
  return url?.split('?')[0] === GRAPHQL ? GRAPHQL : undefined;
}

/** The part of a GraphQL request that is used here. */
interface GraphqlBody {
  readonly operationName?: unknown;
  readonly query?: unknown;
}

const NAME = /^[_A-Za-z]\w{0,63}$/;
const ONLY_OPERATION = /^\s*(?:query|mutation|subscription)\s+([_A-Za-z]\w{0,63})\b/;

/** Returns the name of the operation, if it has one. */
export function operationNameIn(body: unknown): string | undefined {
  const { operationName, query } = (body ?? {}) as GraphqlBody;
  if (typeof operationName === 'string') return NAME.test(operationName) ? operationName : undefined;
  return typeof query === 'string' ? ONLY_OPERATION.exec(query)?.[1] : undefined;
}

/** UUIDs and trace ids of gateways. Anything else may be personal or secret, and must not be logged. */
const MACHINE_MADE = /^[0-9a-f][0-9a-f-]{14,62}[0-9a-f]$/i;

/** Returns the request id of a gateway, or a new one. */
function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && MACHINE_MADE.test(given) ? given : randomUUID();
}
