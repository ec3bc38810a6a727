import { type DynamicModule, Module } from '@nestjs/common';
import { ConfigurationError } from '../../config/configuration-error.js';
import { checkOptions } from '../domain/values/given-options.js';
import { type ServedSessions, servedSessions } from '../sessions.tokens.js';
import { EVENT_OPERATIONS } from '../surface/event-operations.js';
import { SESSION_OPERATIONS } from '../surface/session-operations.js';
import { STATE_OPERATIONS } from '../surface/state-operations.js';
import { TURNS } from '../surface/turn-operations.js';
import { USAGE } from '../surface/usage-operations.js';
import { AppsController } from './apps.controller.js';
import { EventStreamController } from './event-stream.controller.js';
import { controllerOf } from './make-controller.js';
import { ROUTES, type RoutesOptions, routesModule } from './session-routes.js';

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
    // In the order of the docs.
    controllerOf(SESSION_OPERATIONS),
    AppsController,
    controllerOf(EVENT_OPERATIONS),
    EventStreamController,
    ...[STATE_OPERATIONS, TURNS, USAGE].map(controllerOf),
  ],
})
export class SessionsRestModule {
  static forRoot(given: SessionsRestOptions = {}): DynamicModule {
    checkOptions('SessionsRestModule', given, { ...ROUTES, sessionsName: 'text?' });
    const { sessionsName, ...options } = given;
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
