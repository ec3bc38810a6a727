import { Inject, Injectable, SetMetadata } from '@nestjs/common';
import { SessionService } from '../session.service.js';

/** What `@Plugin()` of @nestjs/apollo says of a class. Nobody else takes notice. */
const APOLLO_PLUGIN = 'graphql:plugin';

interface Draining {
  drainServer(): Promise<void>;
}

/**
 * In an app with Apollo, it may be the first that is told to end, and waits 10 seconds for open connections. Streams of events keep
 * theirs open; so they end when it begins to wait, in whichever order the modules stand.
 */
@Injectable()
@SetMetadata(APOLLO_PLUGIN, true)
export class EndOfStreams {
  constructor(@Inject(SessionService) private readonly sessions: SessionService) {}

  async serverWillStart(): Promise<Draining> {
    return { drainServer: () => this.sessions.finish() };
  }
}
