import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { resolverOf } from '../../sessions/graphql/make-resolver.js';
import { AccessChecks } from '../../sessions/transport/access-checks.js';
import { type SessionAccessOptions, accessProviders } from '../../sessions/transport/session-access.module.js';
import { SEARCH } from '../surface/search-operations.js';

/** An access rule of its own, if `SessionAccessModule` does not provide the rule of the app. */
export interface SearchGraphqlOptions extends Partial<SessionAccessOptions> {
  /** Modules that provide `SessionSearch` and the dependencies of `access`, if they are not global. */
  readonly imports?: ModuleMetadata['imports'];
}

/**
 * The queries of search, for the `GraphQLModule` of an app that has `SearchModule`.
 *
 * @example
 * imports: [
 *   SearchModule.forRoot({ isGlobal: true }),
 *   SessionAccessModule.forRoot({ access: clientAccess() }),
 *   SessionsGraphqlModule.forRoot(),
 *   SearchGraphqlModule.forRoot(),
 * ];
 */
@Module({ providers: [resolverOf(SEARCH)] })
export class SearchGraphqlModule {
  static forRoot({ imports = [], ...access }: SearchGraphqlOptions = {}): DynamicModule {
    return {
      module: SearchGraphqlModule,
      imports: [...imports],
      providers: [...accessProviders(access), AccessChecks],
    };
  }
}
