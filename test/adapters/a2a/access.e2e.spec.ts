import { type StreamResponse, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  SessionPushNotificationStore,
  SessionRequestHandler,
  SessionTaskStore,
} from '../../../src/adapters/a2a/index.js';
import { ComponentSession, InMemoryComponentStore } from '../../../src/components/index.js';
import { InMemorySessionService, SessionService, SessionsModule } from '../../../src/index.js';
import {
  type AccessAnswer,
  type AccessRequest,
  SessionAccess,
  SessionAccessModule,
  clientAccess,
} from '../../../src/sessions/rest/index.js';
import { until } from '../../support/until.js';
import { METHODS, allEvents, config, saying } from './support/methods.js';
import { CountingAgent, type RunningServer, type ServerStores, cardOf, startServer } from './support/server.js';
import { callOf, idsOf, listOf, message, taskOf } from './support/tasks.js';

const OWNER = { appName: 'shop', userId: 'ann' };
const NORTH = { labels: { team: 'north' } };
const SOUTH = { labels: { team: 'south' } };

/** Says what a test wants, and notes what it was asked. */
class SwitchedAccess extends SessionAccess {
  answer: AccessAnswer = true;
  mayWrite = true;
  isSignedIn = true;
  asked: AccessRequest[] = [];

  override userOf(request: unknown): unknown {
    return this.isSignedIn ? super.userOf(request) : undefined;
  }

  allows(asked: AccessRequest): AccessAnswer {
    this.asked.push(asked);
    return this.answer;
  }

  override allowsWrite(): boolean {
    return this.mayWrite;
  }
}

function wordsOf({ action, target, sessionId, write }: AccessRequest): string {
  return [action, target, sessionId, ...(write?.content ?? []), ...(write?.controls ?? [])].filter(Boolean).join(' ');
}

describe('A server of A2A in an app with an access rule', () => {
  let rule: SwitchedAccess;
  let server: RunningServer;
  let sessions: SessionService;
  let stores: ServerStores;

  beforeEach(async () => {
    // The SDK logs what it refuses on a stream.
    jest.spyOn(console, 'error').mockImplementation();
    rule = new SwitchedAccess();
    const components = new ComponentSession({ store: new InMemoryComponentStore({}) });
    const open = (made: SessionService): ServerStores => {
      sessions = made;
      stores = {
        tasks: new SessionTaskStore({ sessions, appName: 'shop' }),
        push: new SessionPushNotificationStore({ components, appName: 'shop' }),
        sender: { send: async () => undefined },
      };
      return stores;
    };
    server = await startServer(
      (app) => open(app.get(SessionService)),
      [
        SessionsModule.forRoot({ provider: 'memory' }),
        SessionAccessModule.forRoot({ access: rule, streams: { recheckSeconds: 0.02 } }),
      ],
    );
    for (const [id, team] of [
      ['t1', 'north'],
      ['t2', 'south'],
    ] as const) {
      await stores.tasks.save(taskOf(id, { history: [message(`first of ${id}`)] }), callOf());
      await stores.push.save(id, callOf(), { ...config, taskId: id, id: 'planted' });
      await label(id, team);
    }
  });
  afterEach(async () => {
    await server.stop();
    jest.restoreAllMocks();
  });

  async function label(sessionId: string, team: string): Promise<void> {
    await sessions.appendEvent({
      session: { ...OWNER, id: sessionId },
      event: { author: 'staff', actions: { metadataDelta: { labels: { team } } } },
    });
  }

  /** All that ann has. */
  async function everything(): Promise<unknown> {
    const { tasks } = await stores.tasks.list(listOf({ includeArtifacts: true }), callOf());
    return [tasks, ...(await Promise.all(tasks.map(({ id }) => stores.push.load(id, callOf()))))];
  }

  it.each(METHODS)('asks it for $name', async ({ call, asks }) => {
    await call(server.client, 't1');
    const asked = rule.asked.map(wordsOf);
    expect(asked.slice(0, asks.length)).toEqual(asks);
    // Streams ask again.
    expect(asked.slice(asks.length).filter((words) => words !== 'read session t1')).toEqual([]);
    expect(rule.asked[0]).toMatchObject({
      ...OWNER,
      user: { id: 'ann' },
      request: { headers: { host: expect.any(String) } },
    });
  });

  it.each(METHODS)('does nothing and shows nothing by $name if it refuses', async ({ call }) => {
    const before = await everything();
    rule.answer = false;
    await expect(call(server.client, 't1')).rejects.toThrow('Task not found: t1');
    rule.answer = SOUTH;
    await expect(call(server.client, 't1')).rejects.toThrow('Task not found: t1');
    rule.answer = 'yes' as never;
    await expect(call(server.client, 't1')).rejects.toThrow();
    rule.answer = true;
    rule.isSignedIn = false;
    await expect(call(server.client, 't1')).rejects.toThrow('Sign in first.');
    expect(await everything()).toEqual(before);
    rule.isSignedIn = true;
    rule.answer = NORTH;
    await call(server.client, 't1');
  });

  it.each(METHODS.filter(({ asks }) => asks.length > 1))(
    'lets $name write as far as the rule does',
    async ({ call }) => {
      const before = await everything();
      rule.mayWrite = false;
      await expect(call(server.client, 't1')).rejects.toThrow('You may not write this.');
      expect(await everything()).toEqual(before);
    },
  );

  it('lists what the filter of the rule matches', async () => {
    expect(idsOf((await server.client.listTasks(listOf())).tasks).toSorted()).toEqual(['t1', 't2']);
    expect(rule.asked.map(wordsOf)).toEqual(['list sessions']);
    rule.answer = NORTH;
    const north = await server.client.listTasks(listOf());
    expect([idsOf(north.tasks), north.totalSize]).toEqual([['t1'], 1]);
    expect(idsOf((await server.client.listTasks(listOf({ contextId: 'other' }))).tasks)).toEqual([]);
    rule.answer = false;
    await expect(server.client.listTasks(listOf())).rejects.toThrow('You may not do this.');
  });

  it.each([
    (client: Client) => client.sendMessage(saying('ask')),
    (client: Client) => allEvents(client.sendMessageStream(saying('count'))),
  ])('asks whether a message may begin a task', async (call) => {
    const before = await everything();
    rule.answer = false;
    await expect(call(server.client)).rejects.toThrow('You may not do this.');
    // A new task has no labels.
    rule.answer = NORTH;
    await expect(call(server.client)).rejects.toThrow('You may not create this.');
    rule.answer = true;
    rule.mayWrite = false;
    await expect(call(server.client)).rejects.toThrow('You may not write this.');
    expect(new Set(rule.asked.map(wordsOf))).toEqual(new Set(['create sessions text']));
    expect(await everything()).toEqual(before);
    rule.mayWrite = true;
    await call(server.client);
    expect(await everything()).not.toEqual(before);
  });

  it('gives an agent no task that a message refers to, if the rule hides it', async () => {
    const asking = saying('ask', 't1');
    const referring = { ...asking, message: { ...message('m', 'ask'), taskId: 't1', referenceTaskIds: ['t2'] } };
    rule.answer = NORTH;
    await expect(server.client.sendMessage(referring)).rejects.toThrow('Task not found: t2');
    rule.answer = true;
    await server.client.sendMessage(referring);
  });

  it('ends the stream of a message when the rule changes, and the task goes on', async () => {
    const open = closeGate(server.agent);
    const stream = server.client.sendMessageStream(saying('slowly'));
    const id = taskIdOf((await stream.next()).value);
    rule.answer = false;
    await expect(stream.next()).rejects.toThrow(`Task not found: ${id}`);
    open();
    await until(async () => (await stateOf(id)) === TaskState.TASK_STATE_COMPLETED);
  });

  it('ends a subscription when the session leaves the filter of the rule, and the task goes on', async () => {
    const open = closeGate(server.agent);
    const begun = await server.client.sendMessage(saying('slowly', 't1'));
    expect(begun).toMatchObject({ id: 't1' });
    rule.answer = NORTH;
    const stream = server.client.resubscribeTask({ tenant: '', id: 't1' });
    await stream.next();
    await label('t1', 'south');
    await expect(stream.next()).rejects.toThrow('Task not found: t1');
    open();
    await until(async () => (await stateOf('t1')) === TaskState.TASK_STATE_COMPLETED);
  });

  async function stateOf(id: string): Promise<TaskState | undefined> {
    return (await stores.tasks.load(id, callOf()))?.status?.state;
  }
});

describe('A server of A2A of an app without a module of access', () => {
  const sessions = new InMemorySessionService();
  afterAll(() => sessions.close());
  const request = { tenant: '', id: 't1' };

  it('asks the rule that its store was given', async () => {
    const tasks = new SessionTaskStore({ sessions, appName: 'shop', access: clientAccess({ apps: ['bank'] }) });
    const handler = new SessionRequestHandler(cardOf(), tasks, new CountingAgent());
    await tasks.save(taskOf('t1'), callOf());
    await expect(handler.getTask(request, callOf())).rejects.toMatchObject({ name: 'TaskNotFoundError' });
  });

  it('takes no handler that does not ask it', async () => {
    const tasks = new SessionTaskStore({ sessions, appName: 'shop', access: clientAccess() });
    const handler = new DefaultRequestHandler(cardOf(), tasks, new CountingAgent());
    const refused = { code: 'CONFIGURATION_INVALID', message: expect.stringContaining('SessionRequestHandler') };
    await expect(handler.getTask(request, callOf())).rejects.toMatchObject(refused);
    await expect(handler.listTasks(listOf(), callOf())).rejects.toMatchObject(refused);
    await expect(handler.sendMessage(saying('ask', 't1'), callOf())).rejects.toMatchObject(refused);
  });

  it('asks the rule of the one app that has one, as long as it runs', async () => {
    const shared = new InMemorySessionService();
    const handler = new SessionRequestHandler(
      cardOf(),
      new SessionTaskStore({ sessions: shared, appName: 'shop' }),
      new CountingAgent(),
    );
    const open = async () => {
      const imports = [SessionAccessModule.forRoot({ access: clientAccess({ apps: ['bank'] }) })];
      const providers = [{ provide: SessionService, useFactory: () => shared }];
      const app = await Test.createTestingModule({ imports, providers }).compile();
      return app.init();
    };
    await handler.listTasks(listOf(), callOf());
    const app = await open();
    await expect(handler.listTasks(listOf(), callOf())).rejects.toThrow('You may not do this.');
    const other = await open();
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    await expect(handler.listTasks(listOf(), callOf())).rejects.toThrow('the log of the server says why');
    expect(logged).toHaveBeenCalledTimes(1);
    logged.mockRestore();
    await other.close();
    await expect(handler.listTasks(listOf(), callOf())).rejects.toThrow('You may not do this.');
    await app.close();
  });

  it('takes no store but its own', () => {
    const tasks = new InMemoryTaskStore() as unknown as SessionTaskStore;
    expect(() => new SessionRequestHandler(cardOf(), tasks, new CountingAgent())).toThrow('SessionTaskStore');
  });

  it('knows all methods of the SDK', () => {
    const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(DefaultRequestHandler.prototype);
    const asked = Object.keys(Object.getOwnPropertyDescriptors(SessionRequestHandler.prototype));
    // Cards say nothing about sessions.
    const cards = ['getAgentCard', 'getAuthenticatedExtendedAgentCard'];
    expect(Object.keys(methods).filter((name) => !name.startsWith('_') && !asked.includes(name))).toEqual(cards);
    expect(METHODS.map(({ name }) => name).toSorted()).toEqual(
      asked.filter((name) => name !== 'constructor' && name !== 'listTasks').toSorted(),
    );
  });
});

/** Keeps the agent from going on. Returns what opens the gate. */
function closeGate(agent: CountingAgent): () => void {
  let open: (() => void) | undefined;
  agent.gate = new Promise<void>((resolve) => (open = resolve));
  return () => open?.();
}

function taskIdOf(event: StreamResponse | void): string {
  if (event?.payload?.$case !== 'task') throw new Error('A stream begins with its task');
  return event.payload.value.id;
}
