import { TaskState, type Message } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutor, type ServerCallContext } from '@a2a-js/sdk/server';
import { Logger } from '@nestjs/common';
import { SessionRequestHandler, SessionTaskStore } from '../../../src/adapters/a2a/index.js';
import { InMemorySessionService } from '../../../src/index.js';
import { clientAccess } from '../../../src/sessions/rest/index.js';
import { allEvents, saying } from './support/methods.js';
import { cardOf } from './support/server.js';
import { callOf, message, statusOf, taskOf, textPart } from './support/tasks.js';

/** Counts how often it begins to work. */
class CountedAgent implements AgentExecutor {
  begun = 0;

  readonly execute: AgentExecutor['execute'] = async ({ taskId, contextId, userMessage }, bus) => {
    this.begun++;
    bus.publish(AgentEvent.task(taskOf(taskId, { contextId, history: [userMessage] })));
    const status = statusOf(TaskState.TASK_STATE_COMPLETED);
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, metadata: undefined, status }));
    bus.finished();
  };

  readonly cancelTask: AgentExecutor['cancelTask'] = async () => undefined;
}

const sessions = new InMemorySessionService();
afterAll(() => sessions.close());

function open(access?: ReturnType<typeof clientAccess>) {
  const agent = new CountedAgent();
  const tasks = new SessionTaskStore({ sessions, appName: 'shop', access });
  return { agent, handler: new SessionRequestHandler(cardOf(), tasks, agent) };
}

const WAYS: readonly [string, (handler: SessionRequestHandler, said: Message, call: ServerCallContext) => unknown][] = [
  ['a message', (handler, said, call) => handler.sendMessage(requestOf(said), call)],
  ['a stream', (handler, said, call) => allEvents(handler.sendMessageStream(requestOf(said), call))],
];

function requestOf(said: Message) {
  return { ...saying('x'), configuration: undefined, message: said };
}

describe.each(WAYS)('An agent that %s asks', (_way, send) => {
  let logged: jest.SpyInstance[] = [];
  beforeEach(() => {
    logged = [jest.spyOn(console, 'error'), jest.spyOn(Logger.prototype, 'error')];
    for (const spy of logged) spy.mockImplementation();
  });
  afterEach(() => {
    for (const spy of logged) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });

  it.each([
    ['without a rule', undefined],
    ['with a rule', clientAccess()],
  ])('does not begin to work for nobody, %s', async (_which, access) => {
    const { agent, handler } = open(access);
    const refused = { name: 'RequestMalformedError', message: expect.stringMatching(/sign(ed)? in/i) };
    await expect(send(handler, message('m'), callOf({ user: null }))).rejects.toMatchObject(refused);
    expect(agent.begun).toBe(0);
  });

  it.each([
    ['half a character', message('m', '\ud800')],
    ['more than an event holds', message('m', 'x'.repeat(1 << 20))],
    ['almost an event', message('m', 'x'.repeat((1 << 20) - 300))],
    ['a context that is no text', { ...message('m'), contextId: '\ud800' }],
    ['many files that are too much', { ...message('m'), parts: Array(12).fill(textPart('x'.repeat(100_000))) }],
  ])('does not begin to work for %s', async (_what, said) => {
    const { agent, handler } = open();
    await expect(send(handler, said, callOf())).rejects.toMatchObject({ name: 'RequestMalformedError' });
    expect(agent.begun).toBe(0);
  });

  it.each([
    ['users', callOf({ user: 'x'.repeat(192) })],
    ['tenants', callOf({ tenant: 'x'.repeat(192) })],
  ])('does not begin to work for %s whose name is too long', async (_who, call) => {
    const { agent, handler } = open();
    await expect(send(handler, message('m'), call)).rejects.toMatchObject({ name: 'RequestMalformedError' });
    expect(agent.begun).toBe(0);
  });

  it('works for all that can be kept', async () => {
    const { agent, handler } = open();
    await send(handler, message('m', 'x'.repeat(1_000_000)), callOf());
    expect(agent.begun).toBe(1);
  });
});
