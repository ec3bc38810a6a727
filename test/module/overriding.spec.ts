import { Module } from '@nestjs/common';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import { InMemorySessionStorage, SESSION_STORAGE, SessionService, SessionsModule } from '../../src/index.js';
import { KEY, roundTrip, shownBy } from './support/apps.js';

/** No server listens there: an app that opened this store would not start. */
const UNREACHABLE = { provider: 'redis', redis: { url: 'redis://127.0.0.1:1', commandTimeoutMs: 200 } } as const;

function appWithUnreachableStore(): TestingModuleBuilder {
  @Module({ imports: [SessionsModule.forRoot({ ...UNREACHABLE, isGlobal: true })] })
  class AppModule {}
  return Test.createTestingModule({ imports: [AppModule] });
}

async function started(builder: TestingModuleBuilder): Promise<TestingModule> {
  const app = await builder.compile();
  return app.init();
}

describe('a test that overrides a provider of the module', () => {
  it('can replace the storage, which stays open', async () => {
    const storage = new InMemorySessionStorage();
    const close = jest.spyOn(storage, 'close');
    const app = await started(appWithUnreachableStore().overrideProvider(SESSION_STORAGE).useValue(storage));
    await roundTrip(app.get(SessionService, { strict: false }));
    await app.close();
    expect(close).not.toHaveBeenCalled();
    expect(await shownBy(new SessionService({ storage }))).toBeDefined();
  });

  it('can replace SessionService, whose watches end with the app', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const app = await started(appWithUnreachableStore().overrideProvider(SessionService).useValue(sessions));
    await roundTrip(sessions);
    const next = sessions.watch(KEY).next();
    await app.close();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('can replace SessionService with a partial mock', async () => {
    const getSession = jest.fn(async () => undefined);
    const app = await started(appWithUnreachableStore().overrideProvider(SessionService).useValue({ getSession }));
    await app.get(SessionService, { strict: false }).getSession(KEY);
    await expect(app.close()).resolves.toBeUndefined();
    expect(getSession).toHaveBeenCalledTimes(1);
  });
});
