import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { resolverOf } from '../../sessions/graphql/make-resolver.js';
import { AccessChecks } from '../../sessions/transport/access-checks.js';
import { type SessionAccessOptions, accessProviders } from '../../sessions/transport/session-access.module.js';
import { AGENTS } from '../surface/agent-operations.js';
import { AgentRunResolver } from './agent-run.resolver.js';

/** An access rule of its own, if `SessionAccessModule` does not provide the rule of the app. */
export interface AgentsGraphqlOptions extends Partial<SessionAccessOptions> {
  /** Modules that provide `AgentRegistry`, `AgentSessions` and the dependencies of `access`, if they are not global. */
  readonly imports?: ModuleMetadata['imports'];
}

/**
 * The fields of agents, for the `GraphQLModule` of an app that has `AgentsModule`.
 *
 * @example
 * imports: [
 *   AgentsModule.forRoot({ isGlobal: true }),
 *   AgentsModule.forFeature([Support]),
 *   SessionAccessModule.forRoot({ access: clientAccess({ writes: { controls: ['stop', 'approval'] } }) }),
 *   SessionsGraphqlModule.forRoot(),
 *   AgentsGraphqlModule.forRoot(),
 * ];
 */
@Module({ providers: [resolverOf(AGENTS), AgentRunResolver] })
export class AgentsGraphqlModule {
  static forRoot({ imports = [], ...access }: AgentsGraphqlOptions = {}): DynamicModule {
    return {
      module: AgentsGraphqlModule,
      imports: [...imports],
      providers: [...accessProviders(access), AccessChecks],
    };
  }
}
