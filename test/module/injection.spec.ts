import { Inject, Injectable, Module } from '@nestjs/common';
import {
  InMemorySessionStorage,
  InjectSessionStorage,
  SESSION_STORAGE,
  SessionService,
  SessionsCleanup,
  SessionsModule,
} from '../../src/index.js';
import { CLEANUP_NAME } from '../../src/sessions/module/sessions.cleanup.js';
import type { SessionStorage } from '../../src/storage.js';
import { KEY, roundTrip, shownBy, startApp } from './support/apps.js';

@Injectable()
class Agent {
  constructor(
    @Inject(SessionService) readonly sessions: SessionService,
    @InjectSessionStorage() readonly storage: SessionStorage,
    @Inject(SessionsCleanup) readonly cleanup: SessionsCleanup,
  ) {}
}

@Module({ providers: [Agent], exports: [Agent] })
class AgentModule {}

describe('the providers of SessionsModule', () => {
  it.each([
    ['forRoot', SessionsModule.forRoot({ provider: 'memory', isGlobal: true })],
    ['forRootAsync', SessionsModule.forRootAsync({ useFactory: () => ({ provider: 'memory' }), isGlobal: true })],
  ])('are available in every module if it is global: %s', async (_title, sessionsModule) => {
    const app = await startApp([sessionsModule, AgentModule]);
    const agent = app.get(Agent, { strict: false });
    expect(agent.sessions).toBe(app.get(SessionService, { strict: false }));
    expect(agent.storage).toBeInstanceOf(InMemorySessionStorage);
    expect(agent.cleanup).toBeInstanceOf(SessionsCleanup);
    await roundTrip(agent.sessions);
    await app.close();
  });

  it.each([
    ['forRoot', SessionsModule.forRoot({ provider: 'memory' })],
    ['forRootAsync', SessionsModule.forRootAsync({ useFactory: () => ({ provider: 'memory' }) })],
  ])('are not available without import if it is not global: %s', async (_title, sessionsModule) => {
    await expect(startApp([sessionsModule, AgentModule])).rejects.toThrow(/dependencies of the Agent.+SessionService/s);
  });

  it('are shared by all modules that import the same dynamic module', async () => {
    const shared = SessionsModule.forRoot({ provider: 'memory' });
    @Module({ imports: [shared], providers: [Agent] })
    class Feature {}
    const app = await startApp([shared, Feature]);
    expect(app.get(Agent, { strict: false }).sessions).toBe(app.get(SessionService, { strict: false }));
    await app.close();
  });

  it('include a cleanup named after the package', () => expect(CLEANUP_NAME).toBe('nestjs-agent-sessions:cleanup'));
});

describe('a custom store', () => {
  it('given as an object is used and stays open', async () => {
    const storage = new InMemorySessionStorage();
    const close = jest.spyOn(storage, 'close');
    const app = await startApp([SessionsModule.forRoot({ storage })]);
    expect(app.get(SESSION_STORAGE, { strict: false })).toBe(storage);
    await roundTrip(app.get(SessionService, { strict: false }));
    await app.close();
    expect(close).not.toHaveBeenCalled();
    expect(await shownBy(new SessionService({ storage }))).toBeDefined();
  });

  it('given as a class is created with its dependencies and closed', async () => {
    const closed: string[] = [];
    @Injectable()
    class Disk {
      readonly name = 'disk of the app';
    }
    @Module({ providers: [Disk], exports: [Disk] })
    class DiskModule {}
    @Injectable()
    class DiskStorage extends InMemorySessionStorage {
      constructor(@Inject(Disk) readonly disk: Disk) {
        super();
      }

      override async close(): Promise<void> {
        closed.push(this.disk.name);
        await super.close();
      }
    }
    const app = await startApp([
      SessionsModule.forRootAsync({ imports: [DiskModule], useFactory: () => ({ storage: DiskStorage }) }),
    ]);
    await roundTrip(app.get(SessionService, { strict: false }));
    expect(closed).toEqual([]);
    await app.close();
    await app.close();
    expect(closed).toEqual(['disk of the app']);
  });
});

describe('closing an app', () => {
  it('ends watches before the server waits for requests', async () => {
    const app = await startApp([SessionsModule.forRoot({ provider: 'memory' })]);
    const sessions = app.get(SessionService, { strict: false });
    await sessions.createSession(KEY);
    const ended: string[] = [];
    const watching = (async () => {
      for await (const event of sessions.watch(KEY)) ended.push(event.id);
      ended.push('watch');
    })();
    await Promise.all([watching, app.close()]);
    expect(ended).toEqual(['watch']);
  });

  it('can be repeated', async () => {
    const app = await startApp([SessionsModule.forRoot({ provider: 'memory', ttl: { enabled: true } })]);
    await Promise.all([app.close(), app.close()]);
    await expect(app.close()).resolves.toBeUndefined();
  });
});
