import { type DynamicModule, Module } from '@nestjs/common';
import { type RoutesOptions, routesModule } from '../../sessions/rest/session-routes.js';
import { AdkAppsController, AdkRunsController } from './adk.controller.js';
import { ApprovalsController, PendingApprovalsController } from './approvals.controller.js';
import { RunsController } from './runs.controller.js';

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
@Module({ controllers: [RunsController, ApprovalsController, PendingApprovalsController] })
export class AgentsRestModule {
  static forRoot(options: AgentsRestOptions = {}): DynamicModule {
    return routesModule(AgentsRestModule, options);
  }
}

/**
 * The routes of ADK's API server that run agents, `/run`, `/run_sse` and `/list-apps`, so that ADK's web UI and clients work. Needs
 * `SessionsRestModule` for the sessions.
 *
 * @example
 * imports: [SessionsRestModule.forRoot(), AgentsRestModule.forRoot(), AdkRestModule.forRoot()];
 */
@Module({ controllers: [AdkAppsController, AdkRunsController] })
export class AdkRestModule {
  static forRoot(options: AgentsRestOptions = {}): DynamicModule {
    return routesModule(AdkRestModule, options);
  }
}
