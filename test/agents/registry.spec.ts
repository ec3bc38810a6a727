import { Injectable, Scope } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { type Agent, AgentHandler, AgentRegistry, AgentsModule, type RunHandler } from '../../src/agents/index.js';
import { InMemorySessionStorage, SessionsModule } from '../../src/index.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { text } from './support/handlers.js';

@Injectable({ scope: Scope.REQUEST })
@AgentHandler('shop')
class OfARequest implements Agent {
  async *run(): ReturnType<RunHandler> {
    yield text('never');
  }
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
    registry.register({ app: KEY.appName, policy: 'debounce', quietMs: 1 }, async function* ({ messages }) {
      asked.push(messages.length);
      yield text('hello');
    });
    const begin = performance.now();
    await registry.run({ ...KEY, newMessage: 'hi' }).result;
    expect(performance.now() - begin).toBeLessThan(900);
    await Promise.all(['a', 'b'].map((newMessage) => registry.run({ ...KEY, newMessage, quietMs: 200 }).result));
    expect(asked).toEqual([1, 2]);
    expect(() => registry.run({ ...KEY, newMessage: 'hi', quietMs: 3_600_001 })).toThrow('quietMs: must be a number');
    await app.close();
  });

  it('refuses agents of one request, which could not be found', async () => {
    const module = Test.createTestingModule({
      imports: [
        SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
        AgentsModule.forRoot({}),
        AgentsModule.forFeature([OfARequest]),
      ],
    });
    const app = (await module.compile()).createNestApplication();
    await expect(app.init()).rejects.toThrow('The agent OfARequest must not be request-scoped');
    await app.close();
  });
});
