import { type DynamicModule, Module } from '@nestjs/common';
import { controllerOf } from '../../sessions/rest/make-controller.js';
import { type RoutesOptions, routesModule } from '../../sessions/rest/session-routes.js';
import { SERVED_SUMMARIES, SUMMARIES } from '../surface/summary-operations.js';

/** As for `SessionsRestModule`. */
export type SummarizerRestOptions = RoutesOptions;

/**
 * The routes of summaries, for an app that has `SummarizerModule`.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
 *   SummarizerModule.forRoot({ events: 40, isGlobal: true }),
 *   SessionAccessModule.forRoot({ access: clientAccess() }),
 *   SessionsRestModule.forRoot(),
 *   SummarizerRestModule.forRoot(),
 * ];
 */
@Module({ controllers: [controllerOf(SUMMARIES)] })
export class SummarizerRestModule {
  static forRoot(options: SummarizerRestOptions = {}): DynamicModule {
    return routesModule(SummarizerRestModule, options, [SERVED_SUMMARIES]);
  }
}
