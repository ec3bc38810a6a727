import { type DynamicModule, Module } from '@nestjs/common';
import { ConfigurationError } from '../../config/configuration-error.js';
import { type ServedSessions, servedSessions } from '../sessions.tokens.js';
import { AppsController } from './apps.controller.js';
import { EventStreamController } from './event-stream.controller.js';
import { EventsController } from './events.controller.js';
import { type RoutesOptions, routesModule } from './session-routes.js';
import { SessionsController } from './sessions.controller.js';
import { StateHistoryController } from './state-history.controller.js';
import { StateController } from './state.controller.js';
import { TurnsController } from './turns.controller.js';
import { UsageController } from './usage.controller.js';

/** Access and path of the routes, and whose sessions they serve. */
export interface SessionsRestOptions extends RoutesOptions, ServedSessions {}

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
    AppsController,
    EventsController,
    EventStreamController,
    StateController,
    StateHistoryController,
    TurnsController,
    UsageController,
  ],
})
export class SessionsRestModule {
  static forRoot({ sessionsName, ...options }: SessionsRestOptions = {}): DynamicModule {
    const served = [servedSessions({ sessionsName })];
    if (sessionsName === undefined) return routesModule(SessionsRestModule, options, served);
    if (options.path === undefined) throw new ConfigurationError([missingPath(sessionsName)]);
    // Nest keeps the path of a module by its class.
    return routesModule(class NamedSessionsRestModule extends SessionsRestModule {}, options, served);
  }
}

function missingPath(name: string): string {
  return `SessionsRestModule.forRoot({ sessionsName: ${JSON.stringify(name)} }) needs a path of its own, so that its routes are not those of other sessions.`;
}
