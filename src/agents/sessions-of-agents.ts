import type { Provider } from '@nestjs/common';
import { SessionService } from '../sessions/session.service.js';
import { SERVED_SESSIONS } from '../sessions/sessions.tokens.js';

/** The sessions that `AgentsModule` serves. */
export const SESSIONS_OF_AGENTS = Symbol('SESSIONS_OF_AGENTS');

/**
 * A provider for modules of routes: these serve the sessions that `AgentsModule` serves, or those of `SessionsModule`.
 *
 * @example static forRoot(options: RoutesOptions): DynamicModule { return routesModule(MyRoutes, options, [sessionsOfAgents]); }
 */
export const sessionsOfAgents: Provider = {
  provide: SERVED_SESSIONS,
  useFactory: (ofAgents: SessionService | undefined, sessions: SessionService | undefined) => ofAgents ?? sessions,
  inject: [
    { token: SESSIONS_OF_AGENTS, optional: true },
    { token: SessionService, optional: true },
  ],
};
