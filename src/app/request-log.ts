import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type INestApplication, Logger } from '@nestjs/common';
import { operationNameIn } from './graphql-operation.js';
import { requestIdOf } from './request-id.js';

/** A request, with what the framework knows of it once it is answered. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Of the path, such as `/apps/:appName/state`: the path itself holds ids. */
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

/** Answered in front of the routes. */
const GRAPHQL = '/graphql';
const HEALTH = /^\/health(\/|$)/;

const logger = new Logger('Requests');

/**
 * Gives each request a line in the log, when its answer is through or its connection broke: method, pattern of the path, status,
 * duration and id. Nothing of what was said, no id of anybody, no token. Call it before anything else is put into the app.
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

/** The same for connections of WebSockets, when they are over. */
export function logWebSockets(server: Server): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const startedAt = performance.now();
    const id = requestIdOf(request);
    socket.once('close', () => {
      logger.log(line(request.method, graphqlIn(request.url), 101, startedAt, id));
    });
  });
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
    // Probes come every few seconds, and say nothing as long as all is well.
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
