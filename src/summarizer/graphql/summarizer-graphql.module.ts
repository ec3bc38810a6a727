import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { resolverOf } from '../../sessions/graphql/make-resolver.js';
import { AccessChecks } from '../../sessions/transport/access-checks.js';
import { type SessionAccessOptions, accessProviders } from '../../sessions/transport/session-access.module.js';
import { SUMMARIES } from '../surface/summary-operations.js';

/** An access rule of its own, if `SessionAccessModule` does not provide the rule of the app. */
export interface SummarizerGraphqlOptions extends Partial<SessionAccessOptions> {
  /** Modules that provide `SummarizerSessionManager` and the dependencies of `access`, if they are not global. */
  readonly imports?: ModuleMetadata['imports'];
}

/**
 * The queries and the mutation of summaries, for the `GraphQLModule` of an app that has `SummarizerModule`.
 *
 * @example
 * imports: [
 *   SummarizerModule.forRoot({ events: 40, isGlobal: true }),
 *   SessionAccessModule.forRoot({ access: clientAccess() }),
 *   SessionsGraphqlModule.forRoot(),
 *   SummarizerGraphqlModule.forRoot(),
 * ];
 */
@Module({ providers: [resolverOf(SUMMARIES)] })
export class SummarizerGraphqlModule {
  static forRoot({ imports = [], ...access }: SummarizerGraphqlOptions = {}): DynamicModule {
    return {
      module: SummarizerGraphqlModule,
      imports: [...imports],
      providers: [...accessProviders(access), AccessChecks],
    };
  }
}
