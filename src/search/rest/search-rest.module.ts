import { type DynamicModule, Module } from '@nestjs/common';
import { controllerOf } from '../../sessions/rest/make-controller.js';
import { type RoutesOptions, routesModule } from '../../sessions/rest/session-routes.js';
import { SEARCH, SERVED_SEARCH } from '../surface/search-operations.js';

/** As for `SessionsRestModule`. */
export type SearchRestOptions = RoutesOptions;

/**
 * The routes of search, for an app that has `SearchModule`.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
 *   SearchModule.forRoot({ isGlobal: true }),
 *   SessionAccessModule.forRoot({ access: clientAccess() }),
 *   SessionsRestModule.forRoot(),
 *   SearchRestModule.forRoot(),
 * ];
 */
@Module({ controllers: [controllerOf(SEARCH)] })
export class SearchRestModule {
  static forRoot(options: SearchRestOptions = {}): DynamicModule {
    return routesModule(SearchRestModule, options, [SERVED_SEARCH]);
  }
}
