import { type DynamicModule, Module } from '@nestjs/common';
import { type FieldsOptions, fieldsModule } from '../../sessions/graphql/fields-module.js';
import { resolverOf } from '../../sessions/graphql/make-resolver.js';
import { AGENTS, AGENT_PROVIDERS } from '../surface/agent-operations.js';
import { AgentRunResolver } from './agent-run.resolver.js';

/** An access rule of its own, if `SessionAccessModule` does not provide the rule of the app. */
export type AgentsGraphqlOptions = FieldsOptions;

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
  static forRoot(options: AgentsGraphqlOptions = {}): DynamicModule {
    return fieldsModule(AgentsGraphqlModule, options, AGENT_PROVIDERS);
  }
}
