import { LONGEST_TIMER_MS } from '../../../config/setting.js';
import { recordRefusedUpgrade } from '../../transport/upgrade-checks.js';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { GraphQLModule } from '@nestjs/graphql';
import { ConnectionCount } from '../../transport/connection-count.js';
import { formatProblemBody } from '../../transport/malformed-http.js';
import { PROBLEM_TYPE } from '../../transport/problems.js';
import {
  terminateAfterClose,
  limitClose,
  limitHandshake,
  limitUnread,
  type WebSocketSettings,
  webSocketSettingsIn,
  type SubscriptionServer,
  type Verify,
  subscriptionServerOf,
  endUnread,
  type WebSocketConnection,
} from './web-socket-server.js';
import type { Socket } from 'node:net';

/** The `Retry-After` of a refused connection. */
const RETRY_AFTER_SECONDS = '10';

/** Applies the connection limits to the WebSocket servers that Nest has created. */
@Injectable()
export class WebSocketLimits implements OnApplicationBootstrap {
  readonly #logger = new Logger('SessionsGraphql');

  constructor(@Inject(ModuleRef) private readonly modules: ModuleRef) {}

  onApplicationBootstrap(): void {
    for (const graphql of this.modules.get(GraphQLModule, { strict: false, each: true })) this.#limit(graphql);
  }

  #limit({ graphQlAdapter: driver, completeOptions }: GraphQLModule): void {
    const service = subscriptionServerOf(driver);
    const settings = service && webSocketSettingsIn(service.options);
    if (service && settings) limitServer(service, settings);
    else if (webSocketSettingsIn(graphqlWsOptionsIn(completeOptions))) {
      this.#logger.warn('The connections of subscriptions have no limits here; let the proxy limit their messages.');
    }
  }
}

/** The options of graphql-ws from `GraphQLModule`. */
function graphqlWsOptionsIn(options: unknown): unknown {
  const { subscriptions } = (options ?? {}) as { subscriptions?: Readonly<Record<string, unknown>> };
  return subscriptions?.['graphql-ws'];
}

function limitServer({ server }: SubscriptionServer, { limits, addressOf }: WebSocketSettings): void {
  const stalled = new StalledConnections(limits.stallSeconds);
  server.options.maxPayload = limits.maxMessageBytes;
  server.options.verifyClient = countedBy(new ConnectionCount(), limits, addressOf);
  server.on('connection', (socket, request) => {
    // Client errors must not fill the log. `ws` has already sent the reason and closes the connection.
    socket.removeAllListeners('error');
    socket.on('error', () => terminateAfterClose(socket));
    limitClose(socket);
    limitHandshake(socket, request, limits.maxHandshakeBytes);
    limitUnread(socket, request.socket);
    stalled.add(socket, request.socket);
  });
}

function countedBy(
  count: ConnectionCount,
  limits: WebSocketSettings['limits'],
  addressOf: WebSocketSettings['addressOf'],
): Verify {
  return ({ req: request }, done) => {
    const address = addressOf(request);
    const refusal = count.refusalFor(address, limits);
    if (!refusal) {
      request.socket.once('close', count.add(address));
      done(true);
      return;
    }
    recordRefusedUpgrade(request, refusal.status);
    const headers = { 'Content-Type': PROBLEM_TYPE, 'Cache-Control': 'no-store', 'Retry-After': RETRY_AFTER_SECONDS };
    done(false, refusal.status, formatProblemBody(refusal), headers);
  };
}

interface Progress {
  readonly socket: WebSocketConnection;
  /** Bytes that the client has read, and the time of the last change. */
  taken: number;
  since: number;
}

/**
 * Closes connections that do not read. Otherwise waiting data is kept forever: a client can answer pings without reading.
 */
export class StalledConnections {
  readonly #connections = new Map<Socket, Progress>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly stallSeconds: number) {}

  /** Watches a connection until it closes. */
  add(socket: WebSocketConnection, raw: Socket): void {
    if (this.stallSeconds === 0) return;
    this.#connections.set(raw, { socket, taken: 0, since: performance.now() });
    this.#timer ??= setInterval(() => this.#look(), Math.min(this.stallSeconds * 250, LONGEST_TIMER_MS)).unref();
    raw.once('close', () => {
      this.#connections.delete(raw);
      if (this.#connections.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  #look(): void {
    const now = performance.now();
    for (const [raw, progress] of this.#connections) {
      const taken = raw.bytesWritten - raw.writableLength;
      if (raw.writableLength === 0 || taken !== progress.taken) {
        progress.taken = taken;
        progress.since = now;
      } else if (now - progress.since >= this.stallSeconds * 1000) {
        this.#connections.delete(raw);
        endUnread(progress.socket, this.stallSeconds);
      }
    }
  }
}
