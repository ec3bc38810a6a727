import { type DynamicModule, Module } from '@nestjs/common';
import { sessionsOfAgents } from '../../agents/index.js';
import { routesModule, type RoutesOptions } from '../../sessions/rest/index.js';
import { AgUiController } from './ag-ui.controller.js';

/** As for `SessionsRestModule`. */
export type AgUiOptions = RoutesOptions;

/**
 * The routes by which clients of AG-UI run the agents of `AgentsModule` and follow their threads.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
 *   AgentsModule.forRoot({ isGlobal: true }),
 *   AgentsModule.forFeature([Support]),
 *   AgUiModule.forRoot({ access: clientAccess({ writes: { controls: ['approval'] } }) }),
 * ];
 */
@Module({ controllers: [AgUiController] })
export class AgUiModule {
  static forRoot(options: AgUiOptions = {}): DynamicModule {
    return routesModule(AgUiModule, options, [sessionsOfAgents]);
  }
}
