import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Logger,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryModule, ModuleRef, ModulesContainer } from '@nestjs/core';
import { warnOfLazyLoading } from '../../config/lazy-loading.js';
import { START } from '../../config/session-settings.js';
import { isGiven } from '../domain/values/json-value.js';
import { warningOfMisspelledField } from '../domain/write/misspelled-event-fields.js';
import { stackOf } from '../domain/errors/thrown-text.js';
import { warningOfUnsavedState } from '../domain/session/unsaved-state.js';
import { checkedAsync } from '../served-module.js';
import { SessionTitles } from '../session-titles.js';
import { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { ApolloDrainPlugin } from './apollo-drain.plugin.js';
import { type ChosenStorage, chooseStorage } from './choose-storage.js';
import { openWithPatience } from './open-with-patience.js';
import { checkStoreNames } from './store-names.js';
import {
  type ASYNC_OPTIONS_TYPE,
  ConfigurableModuleClass,
  EXTRAS,
  MODULE_OPTIONS_TOKEN,
  type OPTIONS_TYPE,
  type SessionsModuleOptions,
} from './sessions-module-options.js';
import { SessionsConsumers } from './sessions.consumers.js';
import { CHOSEN_STORAGE, MADE_SERVICE, STORE_NAME, USED_CLEANUP, USED_STORAGE } from './store-providers.js';

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
 *
 * @example
 * SessionsModule.forRoot({ name: 'archive', provider: 'memory' }); // a second store: @InjectSessions('archive')
 */
@Module({
  imports: [DiscoveryModule],
  providers: [
    { provide: CHOSEN_STORAGE, useFactory: chosenOf, inject: [MODULE_OPTIONS_TOKEN, ModuleRef, ModulesContainer] },
    { provide: MADE_SERVICE, useFactory: serviceOver, inject: [USED_STORAGE, MODULE_OPTIONS_TOKEN] },
    {
      provide: IS_IN_USE,
      useFactory: probed,
      inject: [CHOSEN_STORAGE, MADE_SERVICE, USED_STORAGE, SERVED_SESSIONS, MODULE_OPTIONS_TOKEN, USED_CLEANUP],
    },
    { provide: TITLES, useFactory: titlesOf, inject: [SERVED_SESSIONS, MODULE_OPTIONS_TOKEN, ModuleRef] },
    ApolloDrainPlugin,
    SessionsConsumers,
  ],
})
export class SessionsModule
  extends ConfigurableModuleClass
  implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown
{
  readonly #logger = new Logger(SessionsModule.name);
  #closing: Promise<void> | undefined;

  /** Missing options, possible in JavaScript, are reported at start, like other problems. */
  static override forRoot(options: typeof OPTIONS_TYPE): DynamicModule {
    return isGiven(options) ? super.forRoot(options) : super.forRootAsync(NO_OPTIONS);
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return super.forRootAsync(isGiven(options) ? checkedAsync(SessionsModule, options, EXTRAS) : NO_OPTIONS);
  }

  constructor(
    @Inject(SERVED_SESSIONS) private readonly sessions: SessionService,
    @Inject(STORE_NAME) private readonly name: string,
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
    const ofStore = this.name === '' ? 'Sessions' : `Sessions of ${this.name}`;
    this.#logger.log(`${ofStore} are kept in ${this.chosen.place}`);
    for (const warning of (await this.chosen.storage.warnings?.()) ?? []) this.#logger.warn(warning);
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

async function chosenOf(
  options: SessionsModuleOptions,
  moduleRef: ModuleRef,
  modules: ModulesContainer,
): Promise<ChosenStorage> {
  checkStoreNames(modules);
  warnOfLazyLoading(SessionsModule, modules);
  return chooseStorage(options, moduleRef);
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
  options: SessionsModuleOptions,
): Promise<boolean> {
  const isInUse = sessions === made && storage === chosen.storage;
  const { retryAttempts = START.retryAttempts.default, retryDelayMs = START.retryDelayMs.default } = options;
  const logger = new Logger(SessionsModule.name);
  const log = (message: string): void => logger.warn(message);
  if (isInUse) await openWithPatience(() => chosen.probe(), { retryAttempts, retryDelayMs, log });
  return isInUse;
}

function serviceOver(storage: SessionStorage, options: SessionsModuleOptions): SessionService {
  const logger = new Logger(SessionService.name);
  const { history, ttl, limits, usage, quotas, watchPollMs, clock, newId, onUnsavedState, onMisspelledField, state } =
    options;
  return new SessionService({
    storage,
    history,
    ttl,
    usage,
    quotas,
    limits,
    watchPollMs,
    clock,
    newId,
    state,
    onBackgroundError: (error) => logger.error('Work in the background failed', stackOf(error)),
    onUnsavedState: onUnsavedState ?? warningOfUnsavedState((message) => logger.warn(message)),
    onMisspelledField: onMisspelledField ?? warningOfMisspelledField((message) => logger.warn(message)),
  });
}

/** A test's replacement of the service may have no hooks. */
async function titlesOf(
  sessions: SessionService,
  { titler }: SessionsModuleOptions,
  moduleRef: ModuleRef,
): Promise<SessionTitles | undefined> {
  if (!titler || !(sessions instanceof SessionService)) return undefined;
  const made = typeof titler === 'function' ? await moduleRef.create(titler) : titler;
  const titles = new SessionTitles({ sessions, titler: made });
  titles.start();
  return titles;
}
