import { inspect } from 'node:util';
import {
  ConfigurableModuleBuilder,
  type DynamicModule,
  Inject,
  Injectable,
  Logger,
  Module,
  type ModuleMetadata,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModulesContainer, Reflector } from '@nestjs/core';
import { ConfigurationError } from '../config/configuration-error.js';
import { modulesOf, oncePerApp } from '../config/once-per-app.js';
import { checkOptions, requireOptions } from '../sessions/domain/values/given-options.js';
import { scopeProblem } from '../sessions/module/scope-problem.js';
import { SERVED_EXTRAS, type ServedExtras, checkedAsync, withSessions } from '../sessions/served-module.js';
import type { SessionService } from '../sessions/session.service.js';
import { SERVED_SESSIONS } from '../sessions/sessions.tokens.js';
import { SESSION_LINKS, type SessionLinks, withLink } from '../sessions/transport/session-links.js';
import { AGENT_HANDLER, type Agent, handlerOf } from './agent-handler.js';
import { AgentRegistry } from './agent-registry.js';
import type { AgentOptions } from './handler-options.js';
import type { AgentFailedError } from './errors/agent-failed-error.js';
import { AGENTS_MODULE, type AgentSessionsOptions, checkAgentOptions } from './agent-options.js';
import { AgentSessions } from './agent-sessions.js';
import { destroyAfter } from './destroy-after.js';
import { SESSIONS_OF_AGENTS } from './sessions-of-agents.js';

/** Settings of {@link AgentsModule}. */
export interface AgentsModuleOptions extends Pick<
  AgentSessionsOptions,
  | 'turnTtlMs'
  | 'pollMs'
  | 'graceMs'
  | 'drainMs'
  | 'maxRuns'
  | 'maxTempBytes'
  | 'maxWaitingBytes'
  | 'newId'
  | 'partials'
  | 'onRunFailure'
> {
  /** How often agents are looked for whose approvals have expired; 0 for never. Default: every 60,000 ms. */
  readonly expireApprovalsMs?: number | undefined;
}

const AGENTS_OPTIONS = Symbol('AGENTS_OPTIONS');
const DEFAULT_EXPIRE_MS = 60_000;

const { ConfigurableModuleClass, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<AgentsModuleOptions>({
    moduleName: 'Agents',
    optionsInjectionToken: AGENTS_OPTIONS,
  })
    .setClassMethodName('forRoot')
    .setExtras<ServedExtras>(SERVED_EXTRAS, withSessions)
    .build();

/** Registers the agents among all providers, lets approvals expire, and closes the agents before any provider is destroyed. */
@Injectable()
class AgentLifecycle implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(AgentSessions.name);
  #timer: NodeJS.Timeout | undefined;
  #expiring: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    @Inject(AGENTS_OPTIONS) private readonly options: AgentsModuleOptions,
    @Inject(AgentSessions) private readonly agents: AgentSessions,
    @Inject(AgentRegistry) private readonly registry: AgentRegistry,
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  onModuleInit(): void {
    const providers = this.discovery.getProviders();
    const wrappers = providers.filter((each) => {
      const problem = scopeProblem(each);
      if (problem !== undefined) this.#refuse(each.metatype, problem);
      return problem === undefined;
    });
    const registered = new Set<unknown>();
    for (const { instance, token } of wrappers as readonly { instance: unknown; token: unknown }[]) {
      const options = registered.has(instance) ? undefined : this.#optionsOf(instance, token);
      if (!options) continue;
      registered.add(instance);
      this.registry.register(options, handlerOf(instance as Agent));
    }
    this.#closeBefore([...providers, ...this.discovery.getControllers()]);
    const { expireApprovalsMs = DEFAULT_EXPIRE_MS } = this.options;
    if (expireApprovalsMs > 0) this.#timer = setInterval(() => this.#expire(), expireApprovalsMs).unref();
  }

  /** Agents may be registered in code, too. */
  onApplicationBootstrap(): void {
    const apps = this.registry.apps.map((app) => JSON.stringify(app));
    if (this.registry.isOpen) apps.push('apps that a function chooses');
    if (apps.length > 0) this.#logger.log(`Agents answer the messages of ${apps.join(', ')}`);
  }

  /** If nothing else is destroyed. */
  async onModuleDestroy(): Promise<void> {
    await (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    await this.agents.close();
    await this.#expiring;
  }

  #refuse(metatype: unknown, problem: string): void {
    if (typeof metatype !== 'function' || !this.reflector.get<unknown>(AGENT_HANDLER, metatype)) return;
    throw new ConfigurationError([`The agent ${metatype.name} ${problem}`]);
  }

  /** What runs may use anything until they are done. */
  #closeBefore(wrappers: ReturnType<DiscoveryService['getProviders']>): void {
    const instances = wrappers.flatMap((each): unknown[] =>
      each.isTransient ? each.getStaticTransientInstances().map((host) => host?.instance as unknown) : [each.instance],
    );
    const others = new Set(instances.filter((instance) => instance !== this));
    for (const { constructor } of destroyAfter(() => this.onModuleDestroy(), [...others])) {
      this.#logger.warn(`${constructor.name} is frozen, so its onModuleDestroy does not wait for the end of runs`);
    }
  }

  /** A slow round is not overtaken by the next one. */
  #expire(): void {
    this.#expiring ??= this.registry
      .expireApprovals()
      .then(() => undefined)
      .catch((error: unknown) => this.#logger.error('Looking for expired approvals failed', inspect(error)))
      .finally(() => (this.#expiring = undefined));
  }

  /** @param token the class of the agent, also if a test has replaced it by an object without a decorator */
  #optionsOf(instance: unknown, token: unknown): AgentOptions | undefined {
    if (typeof instance !== 'object' || instance === null) return undefined;
    const classes = [instance.constructor, token].filter((each) => typeof each === 'function');
    return this.reflector.getAllAndOverride<AgentOptions | undefined>(AGENT_HANDLER, classes);
  }
}

const reflector = new Reflector();

/** Holds the agents of a feature, which `AgentsModule` finds among all providers. */
@Module({})
class AgentsFeatureModule implements OnModuleInit {
  constructor(@Inject(ModulesContainer) private readonly modules: ModulesContainer) {}

  onModuleInit(): void {
    if (modulesOf(AgentsModule, this.modules).length > 0) return;
    throw new ConfigurationError(['AgentsModule.forFeature needs AgentsModule.forRoot(), or nobody asks the agents.']);
  }
}

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
    {
      provide: AgentSessions,
      useFactory: sessionsOver,
      inject: [SERVED_SESSIONS, AGENTS_OPTIONS, { token: SESSION_LINKS, optional: true }],
    },
    {
      provide: AgentRegistry,
      useFactory: (agents: AgentSessions) => new AgentRegistry(agents),
      inject: [AgentSessions],
    },
    { provide: SESSIONS_OF_AGENTS, useExisting: SERVED_SESSIONS },
    AgentLifecycle,
    oncePerApp(() => AgentsModule, 'with isGlobal: true. sessionsName says which sessions its agents serve.'),
  ],
  exports: [AgentSessions, AgentRegistry, SESSIONS_OF_AGENTS],
})
export class AgentsModule extends ConfigurableModuleClass {
  static override forRoot(options: typeof OPTIONS_TYPE = {}): DynamicModule {
    return super.forRoot(requireOptions('AgentsModule', options));
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return super.forRootAsync(checkedAsync(AgentsModule, options));
  }

  /**
   * Provides agents: classes with `@AgentHandler`.
   * @example AgentsModule.forFeature([Support], { imports: [OrdersModule] });
   */
  static forFeature(agents: readonly Type<Agent>[], options: Pick<ModuleMetadata, 'imports'> = {}): DynamicModule {
    checkOptions<Pick<ModuleMetadata, 'imports'>>('AgentsModule.forFeature', options, { imports: 'list?' });
    const { imports = [] } = options;
    if (!Array.isArray(agents) || agents.some((agent) => typeof agent !== 'function')) {
      throw new ConfigurationError([
        'AgentsModule.forFeature needs a list of classes. One that is undefined may stand in a file that imports this one.',
      ]);
    }
    const plain = agents.filter((agent) => !reflector.get<unknown>(AGENT_HANDLER, agent));
    if (plain.length > 0) {
      const names = plain.map((agent) => agent.name).join(', ');
      throw new ConfigurationError([
        `${names} would answer no messages: decorate each agent with @AgentHandler('name of its app').`,
      ]);
    }
    return { module: AgentsFeatureModule, imports, providers: [...agents], exports: [...agents] };
  }
}

function sessionsOver(sessions: SessionService, given: AgentsModuleOptions, links?: SessionLinks): AgentSessions {
  checkAgentOptions(requireOptions('AgentsModule', given), AGENTS_MODULE);
  const { expireApprovalsMs: _ofModule, ...options } = given;
  const logger = new Logger(AgentSessions.name);
  const onError = (error: unknown): void => logger.error('Work of a run failed', inspect(error));
  const onRunFailure = async (failure: AgentFailedError): Promise<void> => {
    logger.error(withLink(failure.message, failure.run && links?.linkTo(failure.run)), failure.trace);
    await options.onRunFailure?.(failure);
  };
  return new AgentSessions({ ...options, sessions, onError, onRunFailure });
}
