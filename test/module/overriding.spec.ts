import { Injectable, Module } from '@nestjs/common';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import { type Agent, AgentHandler, AgentRegistry, AgentsModule } from '../../src/agents/index.js';
import {
  type EventInput,
  InMemorySessionStorage,
  SESSION_STORAGE,
  SessionService,
  SessionsModule,
} from '../../src/index.js';
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

  it.each([
    [
      'a value',
      (builder: TestingModuleBuilder) => builder.overrideProvider(Support).useValue({ run: () => said('mock') }),
    ],
    ['a class', (builder: TestingModuleBuilder) => builder.overrideProvider(Support).useClass(Mock)],
  ])('can replace an agent with %s', async (_what, override) => {
    const imports = [
      SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
      AgentsModule.forRoot({ isGlobal: true }),
      AgentsModule.forFeature([Support]),
    ];
    const app = await started(override(Test.createTestingModule({ imports })));
    const registry = app.get(AgentRegistry, { strict: false });
    const { events } = await registry.run({ ...KEY, newMessage: 'Hello' }).result;
    expect(events.at(-1)?.content).toEqual({ role: 'model', parts: [{ text: 'mock' }] });
    await app.close();
  });
});

async function* said(text: string): AsyncGenerator<EventInput> {
  yield { content: { role: 'model', parts: [{ text }] } };
}

@Injectable()
@AgentHandler('shop')
class Support implements Agent {
  run(): AsyncGenerator<EventInput> {
    return said('real');
  }
}

@Injectable()
class Mock implements Agent {
  run(): AsyncGenerator<EventInput> {
    return said('mock');
  }
}
