import { type DynamicModule, Module, type ModuleMetadata, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import { ConfigurationError } from '../../config/configuration-error.js';
import { SessionAccess } from '../faces/session-access.js';
import { EventsResolver } from './events.resolver.js';
import { type ExplorerOptions, explorerSettings } from './explorer/explorer-options.js';
import { ExplorerModule } from './explorer/explorer.module.js';
import { SessionChangesResolver } from './session-changes.resolver.js';
import { SessionsResolver } from './sessions.resolver.js';
import { StateResolver } from './state.resolver.js';
import { StrangeUpgrades } from './strange-upgrades.js';

/** Who may touch what, and whether there is an explorer. */
export interface SessionsGraphqlOptions {
  /** Decides who may touch what, as in REST; `OpenAccess` lets everybody do everything. */
  readonly access: Type<SessionAccess>;
  /** A page to try the schema out, unless the app runs in production. Needs the package `altair-static`. */
  readonly explorer?: boolean | ExplorerOptions | undefined;
  /** What provides `SessionService`, and what `access` needs, where they are not global. */
  readonly imports?: ModuleMetadata['imports'];
}

/**
 * The queries, mutations and the subscription of sessions, for the `GraphQLModule` of an app.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
 *   GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, ...sessionsGraphqlOptions() }),
 *   SessionsGraphqlModule.forRoot({ access: OwnSessions }),
 * ];
 */
@Module({ providers: [SessionsResolver, SessionChangesResolver, EventsResolver, StateResolver, StrangeUpgrades] })
export class SessionsGraphqlModule implements OnModuleInit {
  constructor(private readonly moduleRef: ModuleRef) {}

  static forRoot({ access, explorer, imports = [] }: SessionsGraphqlOptions): DynamicModule {
    const settings = explorerSettings(explorer);
    return {
      module: SessionsGraphqlModule,
      imports: [...imports, ...(settings ? [ExplorerModule.at(settings)] : [])],
      providers: [{ provide: SessionAccess, useClass: access }],
    };
  }

  /** Without it the app would start, and answer to nobody. */
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
