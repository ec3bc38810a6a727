import {
  type DynamicModule,
  Inject,
  Logger,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '../config/configuration-error.js';
import { modulesOf } from '../config/once-per-app.js';
import type { SessionService } from '../sessions/session.service.js';
import { requireOptions } from '../sessions/domain/values/given-options.js';
import { ONE_MODULE, checkedAsync } from '../sessions/served-module.js';
import { SERVED_SESSIONS } from '../sessions/sessions.tokens.js';
import { ComponentSession } from './component-session.js';
import { ComponentsCleanup, componentsCleanupOf } from './components.cleanup.js';
import {
  type ASYNC_OPTIONS_TYPE,
  type ChosenComponents,
  ConfigurableModuleClass,
  MODULE_OPTIONS_TOKEN,
  type OPTIONS_TYPE,
  chooseComponents,
} from './components-options.js';

/** The `ComponentStore` of the module. */
export const COMPONENT_STORE = Symbol('COMPONENT_STORE');
const CHOSEN_COMPONENTS = Symbol('CHOSEN_COMPONENTS');

/**
 * Provides {@link ComponentSession}: in the store of `SessionsModule`, or in JSON files.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'redis', redis: { url }, isGlobal: true }),
 *   ComponentsModule.forRoot(),
 * ];
 *
 * @example
 * ComponentsModule.forRoot({ root: './data/components', ttlMs: 30 * 24 * 3_600_000 });
 */
@Module({
  providers: [
    {
      provide: CHOSEN_COMPONENTS,
      useFactory: chooseComponents,
      inject: [MODULE_OPTIONS_TOKEN, SERVED_SESSIONS],
    },
    { provide: COMPONENT_STORE, useFactory: ({ store }: ChosenComponents) => store, inject: [CHOSEN_COMPONENTS] },
    {
      provide: ComponentSession,
      useFactory: ({ store, ttlMs }: ChosenComponents) => new ComponentSession({ store, ttlMs }),
      inject: [CHOSEN_COMPONENTS],
    },
    {
      provide: ComponentsCleanup,
      useFactory: componentsCleanupOf,
      inject: [ComponentSession, CHOSEN_COMPONENTS, ModuleRef],
    },
  ],
  exports: [ComponentSession, ComponentsCleanup, COMPONENT_STORE],
})
export class ComponentsModule extends ConfigurableModuleClass implements OnModuleInit, OnApplicationShutdown {
  static override forRoot(options: typeof OPTIONS_TYPE = {}): DynamicModule {
    return super.forRoot(requireOptions('ComponentsModule', options));
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return super.forRootAsync(checkedAsync(ComponentsModule, options));
  }

  constructor(
    @Inject(CHOSEN_COMPONENTS) private readonly chosen: ChosenComponents,
    @Inject(ComponentSession) private readonly components: ComponentSession,
    @Inject(SERVED_SESSIONS) private readonly sessions: SessionService | undefined,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
  ) {
    super();
  }

  async onModuleInit(): Promise<void> {
    this.#refuseSecond();
    await this.chosen.open?.();
    if (this.chosen.warning !== undefined) new Logger(ComponentsModule.name).warn(this.chosen.warning);
    if (this.sessions && this.chosen.deletesWithSessions) this.components.deleteWith(this.sessions);
  }

  /** Parts of the app would take one for the other, and what is saved by one would expire as the other says. */
  #refuseSecond(): void {
    const stores = modulesOf(ComponentsModule, this.modules).map(({ providers }) => providers.get(COMPONENT_STORE));
    if (stores.filter((each) => each?.instance === this.chosen.store).length < 2) return;
    throw new ConfigurationError([`The app has two ComponentsModules over one store. ${ONE_MODULE}`]);
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.chosen.isOurs) await this.chosen.store.close?.();
  }
}
