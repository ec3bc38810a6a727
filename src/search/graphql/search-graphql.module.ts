import { type DynamicModule, Module } from '@nestjs/common';
import { type FieldsOptions, fieldsModule } from '../../sessions/graphql/fields-module.js';
import { resolverOf } from '../../sessions/graphql/make-resolver.js';
import { SEARCH, SERVED_SEARCH } from '../surface/search-operations.js';

/** An access rule of its own, if `SessionAccessModule` does not provide the rule of the app. */
export type SearchGraphqlOptions = FieldsOptions;

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
  static forRoot(options: SearchGraphqlOptions = {}): DynamicModule {
    return fieldsModule(SearchGraphqlModule, options, [SERVED_SEARCH]);
  }
}
