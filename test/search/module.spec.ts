import { Test, type TestingModule } from '@nestjs/testing';
import { SessionService, SessionsModule } from '../../src/index.js';
import { SEARCH_CONSUMER, SearchModule, SessionSearch } from '../../src/search/index.js';
import { untilIndexed, USER } from './support.js';

describe('SearchModule', () => {
  const apps: TestingModule[] = [];
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
  });

  async function start(imports: Parameters<typeof Test.createTestingModule>[0]['imports']): Promise<TestingModule> {
    const app = await Test.createTestingModule({ imports }).compile();
    apps.push(app);
    app.useLogger(false);
    return app.init();
  }

  it('indexes what is said in an app with a database, and finds it', async () => {
    const database = { database: ':memory:' };
    const sessions = SessionsModule.forRoot({ provider: 'typeorm', database, isGlobal: true });
    const app = await start([sessions, SearchModule.forRoot({ pollMs: 10 })]);
    const search = app.get(SessionSearch);
    expect(search.hasIndex).toBe(true);
    await say(app.get(SessionService));
    await untilIndexed(search);
    expect((await search.searchEvents({ ...USER, text: 'order' })).hits).toHaveLength(1);
  });

  it('says how old its index is: behind, with gaps, and that nobody keeps it any more', async () => {
    const database = { database: ':memory:' };
    const app = await start([SessionsModule.forRoot({ provider: 'typeorm', database, isGlobal: true })]);
    const sessions = app.get(SessionService);
    const search = new SessionSearch({ sessions, pollMs: 10 });
    expect(await search.status(USER)).toEqual({ isKept: false, isFilling: false, hasGaps: false, behindMs: 0 });
    await say(sessions);
    await search.start();
    await untilIndexed(search);
    expect(await search.status(USER)).toEqual({ isKept: true, isFilling: false, hasGaps: false, behindMs: 0 });
    const lag = jest.spyOn(search, 'lag');
    lag.mockResolvedValueOnce({ sessions: 1, undispatched: 2, oldestWaitMs: 70, deadLetters: 3, isFilling: true });
    expect(await search.status(USER)).toEqual({ isKept: true, isFilling: true, hasGaps: true, behindMs: 70 });
    await expect(search.status({ ...USER, userId: '' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await search.stop();
    await sessions.consumers.remove(SEARCH_CONSUMER);
    expect(await search.status(USER)).toMatchObject({ isKept: false });
  });

  it('reads the logs of an app in memory, with settings that come later', async () => {
    const sessions = SessionsModule.forRoot({ provider: 'memory' });
    const app = await start([SearchModule.forRootAsync({ imports: [sessions], useFactory: () => ({}) })]);
    const search = app.get(SessionSearch);
    expect(search.hasIndex).toBe(false);
    await say(app.get(SessionService, { strict: false }));
    expect((await search.searchEvents({ ...USER, text: 'order' })).hits).toHaveLength(1);
    expect(await search.lag()).toMatchObject({ sessions: 0, isFilling: false });
  });

  it('refuses options that it does not know', async () => {
    const sessions = SessionsModule.forRoot({ provider: 'memory', isGlobal: true });
    await expect(start([sessions, SearchModule.forRoot({ app: 'shop' } as never)])).rejects.toThrow(
      'did you mean apps',
    );
  });
});

async function say(sessions: SessionService): Promise<void> {
  const session = await sessions.createSession({ ...USER, sessionId: 's-1' });
  const parts = [{ text: 'my order' }];
  await sessions.appendEvent({ session, event: { author: 'user', content: { role: 'user', parts } } });
}
