import { Inject, Injectable, SetMetadata } from '@nestjs/common';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';

/** The metadata that `@Plugin()` of @nestjs/apollo sets. Without Apollo it has no effect. */
const APOLLO_PLUGIN = 'graphql:plugin';

interface Draining {
  drainServer(): Promise<void>;
}

/**
 * At shutdown, Apollo may be first, and waits 10 seconds for open connections. Event streams would keep theirs open, so this plugin
 * ends them when Apollo begins to wait, in any order of modules.
 */
@Injectable()
@SetMetadata(APOLLO_PLUGIN, true)
export class ApolloDrainPlugin {
  constructor(@Inject(SERVED_SESSIONS) private readonly sessions: SessionService) {}

  async serverWillStart(): Promise<Draining> {
    return { drainServer: () => this.sessions.finish() };
  }
}
