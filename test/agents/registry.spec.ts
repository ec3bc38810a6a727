import { type DynamicModule, type INestApplication, Injectable, Logger, Scope } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type Agent,
  AgentHandler,
  AgentNotFoundError,
  AgentRegistry,
  AgentsModule,
  type RunHandler,
} from '../../src/agents/index.js';
import { InMemorySessionStorage, SessionsModule } from '../../src/index.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { until } from '../support/until.js';
import { text } from './support/handlers.js';

@Injectable({ scope: Scope.REQUEST })
@AgentHandler('shop')
class OfARequest implements Agent {
  async *run(): ReturnType<RunHandler> {
    yield text('never');
  }
}

@Injectable({ scope: Scope.TRANSIENT })
@AgentHandler('shop')
class OfEach implements Agent {
  async *run(): ReturnType<RunHandler> {
    yield text('never');
  }
}

@Injectable()
@AgentHandler('shop')
class Support implements Agent {
  async *run(): ReturnType<RunHandler> {
    yield text('hello');
  }
}

function says(name: string): RunHandler {
  return async function* ({ session }) {
    yield text(`${name} for ${session.appName}`);
  };
}

function isTenant(appName: string): boolean {
  return appName.startsWith('tenant-');
}

describe('the registry of agents', () => {
  it('takes an undefined option of a request for a missing one', async () => {
    const app = new AgentApp(new InMemorySessionStorage());
    const registry = new AgentRegistry(app.agents);
    registry.register({ app: KEY.appName, name: 'support', outputKey: 'said' }, async function* () {
      yield text('hello');
    });
    const missing = { agentName: undefined, outputKey: undefined, policy: undefined };
    const { events, session } = await registry.run({ ...KEY, newMessage: 'hi', ...missing }).result;
    expect(events.map(({ author }) => author)).toEqual(['support']);
    expect(session.state.getAll()).toEqual({ said: 'hello' });
    await app.close();
  });

  it('knows how long the messages of an agent wait for others', async () => {
    const app = new AgentApp(new InMemorySessionStorage());
    const registry = new AgentRegistry(app.agents);
    const asked: number[] = [];
    registry.register({ app: KEY.appName, policy: 'debounce', quietMs: 600_000 }, async function* ({ messages }) {
      asked.push(messages.length);
      yield text('hello');
    });
    await app.sessions.createSession(KEY);
    const patient = registry.run({ ...KEY, newMessage: 'a' });
    await until(async () => (await app.logInShort()).length > 0);
    await Promise.all([patient.result, registry.run({ ...KEY, newMessage: 'b', quietMs: 1 }).result]);
    expect(asked).toEqual([2]);
    expect(() => registry.run({ ...KEY, newMessage: 'hi', quietMs: 3_600_001 })).toThrow('quietMs: must be a number');
    await app.close();
  });

  it.each([
    [OfARequest, 'request-scoped'],
    [OfEach, 'transient'],
  ])('refuses agents of which the app has no instance: %p', async (agent, scope) => {
    const module = Test.createTestingModule({
      imports: [
        SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
        AgentsModule.forRoot({}),
        AgentsModule.forFeature([agent]),
      ],
    });
    const app = (await module.compile()).createNestApplication();
    await expect(app.init()).rejects.toThrow(`The agent ${agent.name} must not be ${scope}`);
    await app.close();
  });

  it('says which apps have an agent, when the app starts', async () => {
    const logged: unknown[] = [];
    const log = jest.spyOn(Logger.prototype, 'log').mockImplementation((message) => void logged.push(message));
    const app = await start(AgentsModule.forRoot(), AgentsModule.forFeature([Support]));
    log.mockRestore();
    expect(logged).toContain('Agents answer the messages of "shop"');
    expect(app.get(AgentRegistry, { strict: false }).apps).toEqual(['shop']);
    await app.close();
  });

  it('refuses a class without its decorator', () => {
    class Plain extends OfARequest {}
    class Bare {
      async *run(): ReturnType<RunHandler> {
        yield text('never');
      }
    }
    expect(() => AgentsModule.forFeature([Plain, Bare])).toThrow(
      "Bare would answer no messages: decorate each agent with @AgentHandler('name of its app').",
    );
  });

  describe('with an agent of several apps', () => {
    const app = new AgentApp(new InMemorySessionStorage());
    const registry = new AgentRegistry(app.agents);
    const answerIn = async (appName: string): Promise<unknown> => {
      const { events } = await registry.run({ appName, userId: 'ann', newMessage: 'hi' }).result;
      return events.map(({ author, content }) => [author, content?.parts?.[0]?.text]);
    };

    afterAll(() => app.close());

    it('answers in each that it names or chooses, with the name of the app', async () => {
      registry.register({ app: ['shop', 'tenant-vip'], name: 'support' }, says('named'));
      registry.register({ app: isTenant }, says('chosen'));
      expect(await answerIn('shop')).toEqual([['support', 'named for shop']]);
      expect(await answerIn('tenant-vip')).toEqual([['support', 'named for tenant-vip']]);
      expect(await answerIn('tenant-7')).toEqual([['tenant-7', 'chosen for tenant-7']]);
      expect(() => registry.run({ appName: 'other', userId: 'ann', newMessage: 'hi' })).toThrow(AgentNotFoundError);
    });

    it('lists what is named, and what of the store is chosen', async () => {
      await app.sessions.createSession({ appName: 'other', userId: 'ann' });
      expect(registry.apps).toEqual(['shop', 'tenant-vip']);
      expect(await registry.listApps()).toEqual(['shop', 'tenant-vip', 'tenant-7']);
    });

    it('refuses a second agent of an app, also one that is chosen', async () => {
      expect(() => registry.register({ app: ['new', 'shop'] }, says('other'))).toThrow(
        'Two agents answer messages of the app "shop"',
      );
      registry.register({ app: (name) => name === 'tenant-8' }, says('other'));
      expect(() => registry.run({ appName: 'tenant-8', userId: 'ann', newMessage: 'hi' })).toThrow('Two agents');
      expect(await answerIn('tenant-9')).toEqual([['tenant-9', 'chosen for tenant-9']]);
    });
  });
});

async function start(...imports: readonly DynamicModule[]): Promise<INestApplication> {
  const memory = SessionsModule.forRoot({ provider: 'memory', isGlobal: true });
  const module = await Test.createTestingModule({ imports: [memory, ...imports] }).compile();
  const app = module.createNestApplication({ logger: ['log'] });
  return app.init();
}
