import { type DynamicModule, Module } from '@nestjs/common';
import { checkOptions } from '../../sessions/domain/values/given-options.js';
import { controllerOf } from '../../sessions/rest/make-controller.js';
import { ROUTES, type RoutesOptions, routesModule } from '../../sessions/rest/session-routes.js';
import { checkedOrigins } from '../../sessions/transport/cross-site.js';
import { AdkSessionsController } from './adk-sessions.controller.js';
import { AdkAppsController, AdkRunsController } from './adk.controller.js';
import { ADK_ORIGINS } from './foreign-site.guard.js';
import { RunStreamController } from './run-stream.controller.js';
import { AGENTS, AGENT_PROVIDERS } from '../surface/agent-operations.js';
import { sessionsOfAgents } from '../sessions-of-agents.js';

/** As for `SessionsRestModule`. */
export type AgentsRestOptions = RoutesOptions;

/**
 * The routes of agents, for an app that has `AgentsModule`.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
 *   AgentsModule.forRoot({ isGlobal: true }),
 *   AgentsModule.forFeature([Support]),
 *   SessionAccessModule.forRoot({ access: clientAccess({ writes: { controls: ['stop'] } }) }),
 *   SessionsRestModule.forRoot(),
 *   AgentsRestModule.forRoot(),
 * ];
 */
@Module({ controllers: [controllerOf(AGENTS), RunStreamController] })
export class AgentsRestModule {
  static forRoot(options: AgentsRestOptions = {}): DynamicModule {
    return routesModule(AgentsRestModule, options, AGENT_PROVIDERS);
  }
}

/** As for `SessionsRestModule`. */
export interface AdkRestOptions extends RoutesOptions {
  /**
   * Also the routes of sessions, as ADK has them. They have the paths of `SessionsRestModule`, so give another `path`. Default:
   * `false`.
   */
  readonly sessions?: boolean | undefined;
  /**
   * The origins whose pages may call these routes, such as `http://localhost:4200` of ADK's web UI, besides the server's own and
   * those of `protectFromOtherSites`. Default: none.
   */
  readonly origins?: readonly string[] | undefined;
}

/**
 * The routes of ADK's API server that run agents, `/run`, `/run_sse` and `/list-apps`, and with `sessions` those of sessions, so that
 * ADK's web UI and clients work.
 *
 * @example
 * imports: [SessionsRestModule.forRoot(), AgentsRestModule.forRoot(), AdkRestModule.forRoot({ path: 'adk', sessions: true })];
 */
@Module({ controllers: [AdkAppsController, AdkRunsController] })
export class AdkRestModule {
  static forRoot(given: AdkRestOptions = {}): DynamicModule {
    checkOptions('AdkRestModule', given, { ...ROUTES, sessions: 'flag?', origins: 'texts?' });
    const { sessions = false, origins = [], ...options } = given;
    const { providers = [], ...routes } = routesModule(AdkRestModule, options, [sessionsOfAgents, ...AGENT_PROVIDERS]);
    return {
      ...routes,
      providers: [...providers, { provide: ADK_ORIGINS, useValue: checkedOrigins(origins) }],
      ...(sessions && { controllers: [AdkSessionsController] }),
    };
  }
}
