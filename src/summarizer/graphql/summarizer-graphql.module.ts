import { type DynamicModule, Module } from '@nestjs/common';
import { type FieldsOptions, fieldsModule } from '../../sessions/graphql/fields-module.js';
import { resolverOf } from '../../sessions/graphql/make-resolver.js';
import { SERVED_SUMMARIES, SUMMARIES } from '../surface/summary-operations.js';

/** An access rule of its own, if `SessionAccessModule` does not provide the rule of the app. */
export type SummarizerGraphqlOptions = FieldsOptions;

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
  static forRoot(options: SummarizerGraphqlOptions = {}): DynamicModule {
    return fieldsModule(SummarizerGraphqlModule, options, [SERVED_SUMMARIES]);
  }
}
