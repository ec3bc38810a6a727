import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Logger,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryModule, ModuleRef } from '@nestjs/core';
import { TTL } from '../../config/session-settings.js';
import { checkedSettings } from '../domain/input-checks.js';
import { warningOfUnsavedState } from '../domain/unsaved-state.js';
import { SessionTitles } from '../session-titles.js';
import { SessionService } from '../session.service.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { ApolloDrainPlugin } from './apollo-drain.plugin.js';
import { type ChosenStorage, chooseStorage } from './choose-storage.js';
import {
  type ASYNC_OPTIONS_TYPE,
  ConfigurableModuleClass,
  MODULE_OPTIONS_TOKEN,
  type OPTIONS_TYPE,
  type SessionsModuleOptions,
} from './sessions-module-options.js';
import { SessionsCleanup, cleanupOf } from './sessions.cleanup.js';
import { SessionsConsumers } from './sessions.consumers.js';
import { SESSION_STORAGE, SESSION_TTL } from './sessions.tokens.js';

const CHOSEN_STORAGE = Symbol('CHOSEN_STORAGE');
const MADE_SERVICE = Symbol('MADE_SERVICE');
const IS_IN_USE = Symbol('IS_IN_USE');
const TITLES = Symbol('TITLES');

const NO_OPTIONS = { useFactory: () => undefined as never };

/**
 * Provides {@link SessionService}, over the store that the options choose when the app starts.
 *
 * @example
 * SessionsModule.forRoot({ provider: 'redis', redis: { url: 'redis://localhost:6379' }, ttl: { enabled: true } });
 *
 * @example
 * SessionsModule.forRootAsync(sessionsConfig.asProvider()); // by environment variables
 */
@Module({
  imports: [DiscoveryModule],
  providers: [
    { provide: CHOSEN_STORAGE, useFactory: chooseStorage, inject: [MODULE_OPTIONS_TOKEN, ModuleRef] },
    { provide: SESSION_STORAGE, useFactory: ({ storage }: ChosenStorage) => storage, inject: [CHOSEN_STORAGE] },
    {
      provide: SESSION_TTL,
      // The store is chosen first, because that checks the options.
      useFactory: (_chosen: ChosenStorage, { ttl }: SessionsModuleOptions) => checkedSettings(TTL, ttl, 'ttl'),
      inject: [CHOSEN_STORAGE, MODULE_OPTIONS_TOKEN],
    },
    { provide: MADE_SERVICE, useFactory: serviceOver, inject: [SESSION_STORAGE, MODULE_OPTIONS_TOKEN] },
    { provide: SessionService, useExisting: MADE_SERVICE },
    {
      provide: IS_IN_USE,
      useFactory: probed,
      inject: [CHOSEN_STORAGE, MADE_SERVICE, SESSION_STORAGE, SessionService, SessionsCleanup],
    },
    {
      provide: SessionsCleanup,
      useFactory: cleanupOf,
      inject: [SessionService, ModuleRef, SESSION_STORAGE, MODULE_OPTIONS_TOKEN],
    },
    {
      provide: TITLES,
      useFactory: titlesOf,
      inject: [SessionService, SESSION_STORAGE, MODULE_OPTIONS_TOKEN, ModuleRef],
    },
    ApolloDrainPlugin,
    SessionsConsumers,
  ],
  exports: [SessionService, SESSION_STORAGE, SESSION_TTL, SessionsCleanup],
})
export class SessionsModule
  extends ConfigurableModuleClass
  implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown
{
  readonly #logger = new Logger(SessionsModule.name);
  #closing: Promise<void> | undefined;

  /** Missing options, possible in JavaScript, are reported at start, like other problems. */
  static override forRoot(options: typeof OPTIONS_TYPE): DynamicModule {
    return options === undefined ? super.forRootAsync(NO_OPTIONS) : super.forRoot(options);
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return super.forRootAsync(options === undefined ? NO_OPTIONS : options);
  }

  constructor(
    private readonly sessions: SessionService,
    @Inject(CHOSEN_STORAGE) private readonly chosen: ChosenStorage,
    @Inject(IS_IN_USE) private readonly isInUse: boolean,
    @Inject(TITLES) private readonly titles: SessionTitles | undefined,
  ) {
    super();
  }

  /** Opens the store after all providers are created: if that fails, Nest calls no shutdown hooks, and connections would stay open. */
  async onModuleInit(): Promise<void> {
    if (!this.isInUse) return;
    await this.chosen.open();
    this.#logger.log(`Sessions are kept in ${this.chosen.place}`);
  }

  /** While the app's connections are still open. A pending watch request would keep its server from closing. */
  async beforeApplicationShutdown(): Promise<void> {
    this.titles?.stop();
    await this.#finish();
  }

  /** Waits for remaining work, then closes the module's store once, since a custom store may not tolerate a second close. */
  async onApplicationShutdown(): Promise<void> {
    await this.#finish();
    if (this.chosen.isOurs) await (this.#closing ??= this.chosen.storage.close());
  }

  /** A test's replacement may be a partial service. */
  async #finish(): Promise<void> {
    if (this.sessions instanceof SessionService) await this.sessions.finish();
  }
}

/**
 * Checks whether the chosen store is in use and, if so, can be reached. Nest reports a failure here as one message; a
 * failure in a later hook would be a crash. A test may replace the store or the service; then nothing is connected.
 */
async function probed(
  chosen: ChosenStorage,
  made: SessionService,
  storage: SessionStorage,
  sessions: SessionService,
): Promise<boolean> {
  const isInUse = sessions === made && storage === chosen.storage;
  if (isInUse) await chosen.probe();
  return isInUse;
}

function serviceOver(storage: SessionStorage, options: SessionsModuleOptions): SessionService {
  const logger = new Logger(SessionService.name);
  const { history, ttl, limits, usage, watchPollMs, clock, newId, onUnsavedState, state } = options;
  return new SessionService({
    storage,
    history,
    ttl,
    usage,
    limits,
    watchPollMs,
    clock,
    newId,
    state,
    onBackgroundError: (error) => logger.error('Work in the background failed', stackOf(error)),
    onUnsavedState: onUnsavedState ?? warningOfUnsavedState((message) => logger.warn(message)),
  });
}

/** A test's replacement of the service may have no hooks. */
async function titlesOf(
  sessions: SessionService,
  storage: SessionStorage,
  { titler }: SessionsModuleOptions,
  moduleRef: ModuleRef,
): Promise<SessionTitles | undefined> {
  if (!titler || !(sessions instanceof SessionService)) return undefined;
  const made = typeof titler === 'function' ? await moduleRef.create(titler) : titler;
  const titles = new SessionTitles({ sessions, storage, titler: made });
  titles.start();
  return titles;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
