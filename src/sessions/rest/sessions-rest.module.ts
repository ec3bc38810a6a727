import { type DynamicModule, Module } from '@nestjs/common';
import { EventStreamController } from './event-stream.controller.js';
import { EventsController } from './events.controller.js';
import { type RoutesOptions, routesModule } from './session-routes.js';
import { SessionsController } from './sessions.controller.js';
import { StateHistoryController } from './state-history.controller.js';
import { StateController } from './state.controller.js';
import { TurnsController } from './turns.controller.js';
import { UsageController } from './usage.controller.js';

/** Access and path of the routes. */
export type SessionsRestOptions = RoutesOptions;

/**
 * The routes of sessions, for any Nest app on Express or Fastify.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
 *   SessionAccessModule.forRoot({ access: clientAccess() }),
 *   SessionsRestModule.forRoot({ path: 'api/v1' }),
 * ];
 */
@Module({
  controllers: [
    SessionsController,
    EventsController,
    EventStreamController,
    StateController,
    StateHistoryController,
    TurnsController,
    UsageController,
  ],
})
export class SessionsRestModule {
  static forRoot(options: SessionsRestOptions = {}): DynamicModule {
    return routesModule(SessionsRestModule, options);
  }
}
