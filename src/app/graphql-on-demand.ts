import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Inject, Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { stackOf } from '../sessions/domain/errors/thrown-text.js';
import { respondAndClose } from '../sessions/transport/malformed-http.js';
import { ignoreOptionalUpgrades } from '../sessions/transport/optional-upgrades.js';
import { recordRefusedUpgrade } from '../sessions/transport/upgrade-checks.js';
import type { GraphqlApp } from './graphql-app.js';

const FAILED = { status: 500, code: 'INTERNAL', detail: 'GraphQL could not be loaded.' } as const;

/** What Express changes in a request below a path. */
interface ExpressRequest extends IncomingMessage {
  readonly originalUrl: string;
  baseUrl: string;
}

/**
 * Serves `/graphql`. Its packages are a quarter of what the app would load, so the first request loads them. The configuration was
 * checked at start.
 */
@Injectable()
export class GraphqlOnDemand implements OnModuleInit, OnModuleDestroy {
  readonly #logger = new Logger('GraphQL');
  #loading: Promise<GraphqlApp> | undefined;

  constructor(
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    @Inject(ModuleRef) private readonly modules: ModuleRef,
  ) {}

  /** Here, because the parsers of bodies come first, and the answer to unknown paths comes last. */
  onModuleInit(): void {
    const { httpAdapter } = this.host;
    httpAdapter.use('/graphql', (request: ExpressRequest, response: ServerResponse, next: (error: unknown) => void) => {
      this.#forward(request, response).catch(next);
    });
    const server = httpAdapter.getHttpServer() as Server;
    ignoreOptionalUpgrades(server);
    // All others: once a server has a listener for upgrades, Node leaves every one to it.
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#upgrade(request, socket, head);
    });
  }

  async onModuleDestroy(): Promise<void> {
    const app = await this.#loading?.catch(() => undefined);
    await app?.close();
  }

  async #forward(request: ExpressRequest, response: ServerResponse): Promise<void> {
    const { server } = await this.#app();
    Object.assign(request, { url: request.originalUrl, baseUrl: '' });
    server.emit('request', request, response);
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Without a listener, the error of a client that is gone would end the process.
    socket.on('error', () => socket.destroy());
    try {
      const { server } = await this.#app();
      server.emit('upgrade', request, socket, head);
    } catch {
      recordRefusedUpgrade(request, FAILED.status);
      respondAndClose(socket, FAILED);
    }
  }

  /** A failure is logged, and the next request tries again. */
  #app(): Promise<GraphqlApp> {
    return (this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      this.#logger.error(FAILED.detail, stackOf(error));
      throw error;
    }));
  }

  async #load(): Promise<GraphqlApp> {
    const startedAt = performance.now();
    const { createGraphqlApp } = await import('./graphql-app.js');
    const app = await createGraphqlApp(this.modules);
    this.#logger.log(`Loaded for its first request, in ${Math.round(performance.now() - startedAt)} ms.`);
    return app;
  }
}
