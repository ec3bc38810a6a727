import { Module } from '@nestjs/common';
import { AgUiModule } from '../../../../src/adapters/ag-ui/index.js';
import { AgentSessions, AgentsModule } from '../../../../src/agents/index.js';
import { SESSION_STORAGE, SessionService } from '../../../../src/index.js';
import { OpenAccess } from '../../../../src/sessions/rest/index.js';
import type { SessionStorage } from '../../../../src/storage.js';
import { type Answer, type Framework, RestApp } from '../../../rest/rest-app.js';
import { Support } from './agent.js';
import { Follower, TestAgent } from './client.js';

@Module({})
class OpenedStorageModule {}

/** An instance of an app with the routes of AG-UI, over a store that others use as well. */
export class Instance {
  private constructor(
    private readonly app: RestApp,
    readonly sessions: SessionService,
  ) {}

  static async start(framework: Framework, storage: SessionStorage): Promise<Instance> {
    const sessions = new SessionService({ storage });
    const ofStorage = [{ provide: SESSION_STORAGE, useValue: storage }];
    const app = await RestApp.start(framework, {
      access: OpenAccess,
      services: { sessions },
      isAccessGlobal: true,
      imports: [
        { module: OpenedStorageModule, global: true, providers: ofStorage, exports: [SESSION_STORAGE] },
        AgentsModule.forRoot({ isGlobal: true, pollMs: 20, drainMs: 0, partials: { flushMs: 1 } }),
        AgentsModule.forFeature([Support]),
        AgUiModule.forRoot(),
      ],
    });
    return new Instance(app, sessions);
  }

  get base(): string {
    return `${this.app.url}/apps/shop/users/ann/ag-ui`;
  }

  /** A page whose requests come here. */
  page(): TestAgent {
    return new TestAgent(this.base, { threadId: 't1' });
  }

  follow(headers?: Record<string, string>): Promise<Follower> {
    return Follower.open(this.base, headers);
  }

  post(route: string, body: unknown): Promise<Answer> {
    return this.app.request('POST', `/apps/shop/users/ann/ag-ui/${route}`, body);
  }

  /** What the app does first when it closes. */
  closeAgents(): Promise<void> {
    return this.app.get(AgentSessions).close();
  }

  close(): Promise<void> {
    return this.app.close();
  }
}
