import { type OnApplicationBootstrap, type OnModuleDestroy, Inject, Injectable, SetMetadata } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { ConfigurationError } from '../../config/configuration-error.js';
import type { ConsumedEvent, ConsumeOptions } from '../consumers/consume-options.js';
import { SessionService } from '../session.service.js';
import { SERVED_SESSIONS, type ServedSessions } from '../sessions.tokens.js';
import { scopeProblem } from './scope-problem.js';
import { storeNamesIn } from './store-names.js';
import { STORE_NAME } from './store-providers.js';

/** The metadata of a method that consumes events. */
const CONSUME_SESSION_EVENTS = 'nestjs-agent-sessions:consume';

/** The options of `consume`, without the handler, and whose events these are. */
export interface ConsumeMethodOptions extends Omit<ConsumeOptions, 'handler'>, ServedSessions {}

type ConsumeMethod = (consumed: ConsumedEvent) => void | Promise<void>;

/**
 * Makes a method of a provider a durable consumer: see `SessionService.consume`. It begins when the app has started, and
 * ends, after running handlers, when its modules are destroyed.
 *
 * @example
 * @Injectable()
 * class Webhooks {
 *   @ConsumeSessionEvents({ name: 'webhooks', apps: ['shop'] })
 *   async send({ event, idempotencyKey }: ConsumedEvent): Promise<void> {}
 * }
 */
export function ConsumeSessionEvents(
  options: ConsumeMethodOptions,
): <Method extends ConsumeMethod>(
  target: object,
  name: string | symbol,
  method: TypedPropertyDescriptor<Method>,
) => void {
  return SetMetadata(CONSUME_SESSION_EVENTS, options);
}

/** Starts the consumers among the methods of all providers, and stops them before the providers are destroyed. */
@Injectable()
export class SessionsConsumers implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(
    @Inject(SERVED_SESSIONS) private readonly sessions: SessionService,
    @Inject(STORE_NAME) private readonly name: string,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(MetadataScanner) private readonly scanner: MetadataScanner,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    for (const options of this.#found()) await this.sessions.consume(options);
  }

  /** A test's replacement may be a partial service. */
  async onModuleDestroy(): Promise<void> {
    if (this.sessions instanceof SessionService) await this.sessions.consumers.stop();
  }

  #found(): ConsumeOptions[] {
    const wrappers = [...this.discovery.getProviders(), ...this.discovery.getControllers()];
    const found = wrappers.filter((each) => {
      const problem = scopeProblem(each);
      if (problem !== undefined) this.#refuse(each.metatype?.prototype, problem);
      return problem === undefined;
    });
    return [...new Set(found.map(({ instance }) => instance as unknown))].flatMap((instance) =>
      typeof instance === 'object' && instance !== null ? this.#consumersOf(instance) : [],
    );
  }

  #consumersOf(instance: object): ConsumeOptions[] {
    return this.#methodsOf(Object.getPrototypeOf(instance)).flatMap(({ name, options }) => {
      const method: unknown = Reflect.get(instance, name);
      if (typeof method !== 'function') return [];
      const { sessionsName = '', ...consume } = options;
      this.#checkName(sessionsName, consume.name);
      if (sessionsName !== this.name) return [];
      return [{ ...consume, handler: (event: ConsumedEvent) => method.call(instance, event) as Promise<void> }];
    });
  }

  #methodsOf(prototype: unknown): { readonly name: string; readonly options: ConsumeMethodOptions }[] {
    if (typeof prototype !== 'object' || prototype === null) return [];
    return this.scanner.getAllMethodNames(prototype).flatMap((name) => {
      const method = Reflect.get(prototype, name) as () => void;
      const options = this.reflector.get<ConsumeMethodOptions | undefined>(CONSUME_SESSION_EVENTS, method);
      return options ? [{ name, options }] : [];
    });
  }

  /** It would never be called, or on no instance. */
  #refuse(prototype: unknown, problem: string): void {
    const [consumer] = this.#methodsOf(prototype);
    if (consumer) throw new ConfigurationError([`The consumer ${consumer.options.name} ${problem}`]);
  }

  /** Otherwise nobody would consume. */
  #checkName(sessionsName: string, consumer: string): void {
    const names = storeNamesIn(this.modules);
    if (names.includes(sessionsName)) return;
    throw new ConfigurationError([
      `The consumer ${consumer} finds no store: its sessionsName must be one of ${names.map((each) => each || '(none)').join(', ')}, the names of the app's SessionsModules.`,
    ]);
  }
}
