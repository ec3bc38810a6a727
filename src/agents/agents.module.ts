import {
  ConfigurableModuleBuilder,
  type DynamicModule,
  Inject,
  Injectable,
  Logger,
  Module,
  type ModuleMetadata,
  type OnModuleDestroy,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, Reflector } from '@nestjs/core';
import { ConfigurationError } from '../config/configuration-error.js';
import { SESSION_STORAGE } from '../sessions/module/sessions.tokens.js';
import { SessionService } from '../sessions/session.service.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { AGENT_HANDLER, type Agent, handlerOf } from './agent-handler.js';
import { type AgentOptions, AgentRegistry } from './agent-registry.js';
import { AgentSessions, type AgentSessionsOptions } from './agent-sessions.js';

/** Settings of {@link AgentsModule}. */
export type AgentsModuleOptions = Pick<AgentSessionsOptions, 'turnTtlMs' | 'pollMs' | 'graceMs' | 'newId' | 'partials'>;

const AGENTS_OPTIONS = Symbol('AGENTS_OPTIONS');

interface Extras {
  readonly isGlobal?: boolean;
  /** The module that provides `SessionService`, if it is not global. */
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
}

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<AgentsModuleOptions>({
  moduleName: 'Agents',
  optionsInjectionToken: AGENTS_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setExtras<Extras>({ isGlobal: false, imports: [] }, (definition, { isGlobal, imports = [] }) => ({
    ...definition,
    global: isGlobal ?? false,
    imports: [...new Set([...(definition.imports ?? []), ...imports])],
  }))
  .build();

/** Registers the agents among all providers, and stops their runs before the providers are destroyed. */
@Injectable()
class AgentLifecycle implements OnModuleInit, OnModuleDestroy {
  constructor(
    @Inject(AgentSessions) private readonly agents: AgentSessions,
    @Inject(AgentRegistry) private readonly registry: AgentRegistry,
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  onModuleInit(): void {
    const providers = this.discovery.getProviders();
    const wrappers = providers.filter((each) => each.isDependencyTreeStatic());
    for (const { metatype } of providers.filter((each) => !wrappers.includes(each))) {
      if (typeof metatype !== 'function' || !this.reflector.get<unknown>(AGENT_HANDLER, metatype)) continue;
      throw new ConfigurationError([
        `The agent ${metatype.name} must not be request-scoped, nor depend on what is: it also answers without a request.`,
      ]);
    }
    for (const instance of new Set<unknown>(wrappers.map((each) => each.instance as unknown))) {
      const options = this.#optionsOf(instance);
      if (options) this.registry.register(options, handlerOf(instance as Agent));
    }
  }

  async onModuleDestroy(): Promise<void> {
    await this.agents.close();
  }

  #optionsOf(instance: unknown): AgentOptions | undefined {
    if (typeof instance !== 'object' || instance === null) return undefined;
    return this.reflector.get<AgentOptions | undefined>(AGENT_HANDLER, instance.constructor);
  }
}

/** Holds the agents of a feature. */
@Module({})
class AgentsFeatureModule {}

/**
 * Provides {@link AgentSessions} and {@link AgentRegistry} over `SessionsModule`.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'redis', redis: { url }, isGlobal: true }),
 *   AgentsModule.forRoot({ isGlobal: true }),
 *   AgentsModule.forFeature([Support]),
 * ];
 */
@Module({
  imports: [DiscoveryModule],
  providers: [
    { provide: AgentSessions, useFactory: sessionsOver, inject: [SessionService, SESSION_STORAGE, AGENTS_OPTIONS] },
    {
      provide: AgentRegistry,
      useFactory: (agents: AgentSessions) => new AgentRegistry(agents),
      inject: [AgentSessions],
    },
    AgentLifecycle,
  ],
  exports: [AgentSessions, AgentRegistry],
})
export class AgentsModule extends ConfigurableModuleClass {
  /**
   * Provides agents: classes with `@AgentHandler`.
   * @example AgentsModule.forFeature([Support], { imports: [OrdersModule] });
   */
  static forFeature(
    agents: readonly Type<Agent>[],
    { imports = [] }: Pick<ModuleMetadata, 'imports'> = {},
  ): DynamicModule {
    return { module: AgentsFeatureModule, imports, providers: [...agents], exports: [...agents] };
  }
}

function sessionsOver(sessions: SessionService, storage: SessionStorage, options: AgentsModuleOptions): AgentSessions {
  const logger = new Logger(AgentSessions.name);
  const onError = (error: unknown): void =>
    logger.error('Work of a run in the background failed', error instanceof Error ? error.stack : String(error));
  return new AgentSessions({ ...options, sessions, storage, onError });
}
