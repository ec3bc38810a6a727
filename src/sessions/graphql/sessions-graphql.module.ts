import { type DynamicModule, Module, type ModuleMetadata, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import { ConfigurationError } from '../../config/configuration-error.js';
import { checkOptions } from '../domain/values/given-options.js';
import { type ServedSessions, servedSessions } from '../sessions.tokens.js';
import { EVENT_OPERATIONS } from '../surface/event-operations.js';
import { SESSION_OPERATIONS } from '../surface/session-operations.js';
import { STATE_OPERATIONS } from '../surface/state-operations.js';
import { TURNS } from '../surface/turn-operations.js';
import { USAGE } from '../surface/usage-operations.js';
import { FIELDS, fieldsModule } from './fields-module.js';
import type { SessionAccessOptions } from '../transport/session-access.module.js';
import { WebSocketLimits } from './connections/connection-limits.js';
import { EventAppendedResolver } from './event-appended.resolver.js';
import { type ExplorerOptions, explorerSettings, ExplorerModule } from './explorer/explorer.module.js';
import { resolverOf } from './make-resolver.js';
import { SessionViewResolver } from './session-view.resolver.js';
import { UnhandledUpgrades } from './connections/unhandled-upgrades.js';

/** Options of the module. `access` is only needed without `SessionAccessModule`. */
export interface SessionsGraphqlOptions extends Partial<SessionAccessOptions>, ServedSessions {
  /** A page to try the schema, unless the app runs in production. Requires the package `graphiql@3`. */
  readonly explorer?: boolean | ExplorerOptions | undefined;
  /** Modules that provide `SessionService` and what `access` injects, if they are not global. */
  readonly imports?: ModuleMetadata['imports'];
}

/**
 * The queries, mutations and the subscription of sessions, for the `GraphQLModule` of an app.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
 *   GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, ...sessionsGraphqlOptions() }),
 *   SessionAccessModule.forRoot({ access: clientAccess() }),
 *   SessionsGraphqlModule.forRoot(),
 * ];
 */
@Module({
  providers: [
    SessionViewResolver,
    EventAppendedResolver,
    ...[SESSION_OPERATIONS, EVENT_OPERATIONS, STATE_OPERATIONS, TURNS, USAGE].map(resolverOf),
    UnhandledUpgrades,
    WebSocketLimits,
  ],
})
export class SessionsGraphqlModule implements OnModuleInit {
  constructor(private readonly moduleRef: ModuleRef) {}

  static forRoot(options: SessionsGraphqlOptions = {}): DynamicModule {
    checkOptions('SessionsGraphqlModule', options, { ...FIELDS, explorer: 'anything?', sessionsName: 'text?' });
    const { explorer, imports = [], sessionsName, ...access } = options;
    const settings = explorerSettings(explorer);
    const fields = { ...access, imports: [...imports, ...(settings ? [ExplorerModule.at(settings)] : [])] };
    return fieldsModule(SessionsGraphqlModule, fields, [servedSessions({ sessionsName })]);
  }

  /** Without `GraphQLModule`, the app would start without any GraphQL. */
  onModuleInit(): void {
    try {
      this.moduleRef.get(GraphQLSchemaHost, { strict: false });
    } catch {
      throw new ConfigurationError([
        'SessionsGraphqlModule needs GraphQLModule: import GraphQLModule.forRoot({ driver, ...sessionsGraphqlOptions() }) too.',
      ]);
    }
  }
}
