import type { Server, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { type INestApplication, Logger } from '@nestjs/common';
import type { AppConfig } from '../config/app.config.js';
import { SessionsHealth } from '../health/index.js';
import { SessionService } from '../index.js';
import { stackOf } from '../sessions/domain/errors/thrown-text.js';
import { SummarizerSessionManager } from '../summarizer/index.js';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** npm forwards a Ctrl-C that the terminal has already delivered, so the process gets it twice. */
const ECHO_MS = 500;
/** Time for cleanup after connections are cut off. */
const CLEAN_UP_MS = 2_000;

const logger = new Logger('Shutdown');

/**
 * Shuts down gracefully on a signal: reports not ready, stops accepting connections, completes requests, ends streams and
 * closes the stores. A second signal exits immediately.
 */
export function shutDownOnSignals(app: INestApplication<Server>, settings: AppConfig['shutdown']): void {
  const requests = new OpenRequests(app.getHttpServer());
  let beganAt: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (beganAt === undefined) {
        beganAt = performance.now();
        logger.log(`${signal}: ending, with ${requests.count} requests under way.`);
        void end(app, requests, settings).then((code) => process.exit(code));
      } else if (performance.now() - beganAt > ECHO_MS) {
        process.exit(128 + constants.signals[signal]);
      }
    });
  }
}

/** Returns the exit code. */
async function end(
  app: INestApplication,
  requests: OpenRequests,
  { delaySeconds, limitSeconds }: AppConfig['shutdown'],
): Promise<number> {
  const limitMs = limitSeconds * 1000;
  try {
    app.get(SessionsHealth).beginClosing();
    await pause(delaySeconds * 1000);
    setTimeout(() => {
      logger.warn(`${requests.count} requests are cut off after ${limitSeconds} seconds.`);
      requests.cutOff();
    }, limitMs);
    setTimeout(() => giveUp(), limitMs + CLEAN_UP_MS);
    // `finish()` ends streams. The service accepts calls until the stores are closed.
    await Promise.all([
      requests.finish(),
      app.get(SessionService).finish(),
      app.get(SummarizerSessionManager).finish(),
    ]);
    await app.close();
    return 0;
  } catch (error) {
    logger.error('The app did not end as it should', stackOf(error));
    return 1;
  }
}

function giveUp(): void {
  logger.error('Not everything could be closed in time.');
  process.exit(1);
}

/** Tracks requests without a complete response. */
export class OpenRequests {
  readonly #responses = new Set<ServerResponse>();
  readonly #sockets = new Set<Socket>();
  #isEnding = false;
  #whenNone: () => void = () => undefined;

  constructor(private readonly server: Server) {
    server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => this.#follow(response));
    server.on('connection', (socket: Socket) => {
      // It comes again with a request whose upgrade was ignored.
      if (this.#sockets.has(socket)) return;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  get count(): number {
    return this.#responses.size;
  }

  /** Stops accepting connections, and waits for open requests. Each response closes its connection. */
  async finish(): Promise<void> {
    this.#isEnding = true;
    for (const response of this.#responses) endConnectionWith(response);
    this.server.close();
    if (this.count > 0) await new Promise<void>((resolve) => (this.#whenNone = resolve));
    this.server.closeIdleConnections();
    // Those that a browser opened in advance. Node waits for their first request.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }

  /** Closes all connections, also WebSockets, which Node leaves out. */
  cutOff(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #follow(response: ServerResponse): void {
    this.#responses.add(response);
    if (this.#isEnding) endConnectionWith(response);
    response.once('close', () => {
      this.#responses.delete(response);
      if (this.count === 0) this.#whenNone();
    });
  }
}

function endConnectionWith(response: ServerResponse): void {
  if (!response.headersSent) response.shouldKeepAlive = false;
}
