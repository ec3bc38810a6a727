import {
  type BeforeApplicationShutdown,
  Inject,
  Logger,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { SessionService } from '../session.service.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { type ChosenStorage, chooseStorage } from './choose-storage.js';
import { EndOfStreams } from './end-of-streams.js';
import { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } from './sessions-module-definition.js';
import type { SessionsModuleOptions } from './sessions-module-options.js';
import { SessionsCleanup } from './sessions.cleanup.js';
import { SESSION_STORAGE } from './sessions.tokens.js';

const CHOSEN_STORAGE = Symbol('CHOSEN_STORAGE');
const MADE_SERVICE = Symbol('MADE_SERVICE');

/**
 * Gives an app its sessions: {@link SessionService}, over the store that the options choose when the app starts.
 *
 * @example
 * SessionsModule.forRoot({ provider: 'redis', redis: { url: 'redis://localhost:6379' }, ttl: { enabled: true } });
 *
 * @example
 * SessionsModule.forRootAsync(sessionsConfig.asProvider()); // by environment variables
 */
@Module({
  providers: [
    { provide: CHOSEN_STORAGE, useFactory: chooseStorage, inject: [MODULE_OPTIONS_TOKEN, ModuleRef] },
    { provide: SESSION_STORAGE, useFactory: ({ storage }: ChosenStorage) => storage, inject: [CHOSEN_STORAGE] },
    { provide: MADE_SERVICE, useFactory: serviceOver, inject: [SESSION_STORAGE, MODULE_OPTIONS_TOKEN] },
    { provide: SessionService, useExisting: MADE_SERVICE },
    SessionsCleanup,
    EndOfStreams,
  ],
  exports: [SessionService, SESSION_STORAGE, SessionsCleanup],
})
export class SessionsModule
  extends ConfigurableModuleClass
  implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown
{
  #closing: Promise<void> | undefined;

  constructor(
    private readonly sessions: SessionService,
    @Inject(SESSION_STORAGE) private readonly storage: SessionStorage,
    @Inject(CHOSEN_STORAGE) private readonly chosen: ChosenStorage,
    @Inject(MADE_SERVICE) private readonly made: SessionService,
  ) {
    super();
  }

  /** Not before everything is made: where that fails, Nest tells nobody, and what was open would stay open. */
  async onModuleInit(): Promise<void> {
    if (this.#isInUse) await this.chosen.open();
  }

  /** While connections of the app are open still; and a request that watches would keep its server from closing. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#finish();
  }

  /** Lets what came meanwhile finish, then closes what was opened here, once: who knows whether a store can bear it twice. */
  async onApplicationShutdown(): Promise<void> {
    await this.#finish();
    if (this.chosen.isOurs) await (this.#closing ??= this.chosen.storage.close());
  }

  /** A test may have put its own store or service in the place of ours, which is then never reached for. */
  get #isInUse(): boolean {
    return this.sessions === this.made && this.storage === this.chosen.storage;
  }

  /** What a test put in its place may be no whole service. */
  async #finish(): Promise<void> {
    if (this.sessions instanceof SessionService) await this.sessions.finish();
  }
}

function serviceOver(storage: SessionStorage, options: SessionsModuleOptions): SessionService {
  const logger = new Logger(SessionService.name);
  const { history, ttl, limits, watchPollMs, clock, newId } = options;
  return new SessionService({
    storage,
    history,
    ttl,
    limits,
    watchPollMs,
    clock,
    newId,
    onBackgroundError: (error) => logger.error('Work in the background failed', stackOf(error)),
  });
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
