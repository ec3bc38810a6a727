import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Message, type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import { ComponentSession, InMemoryComponentStore } from '../../../src/components/index.js';
import { InMemorySessionStorage, SessionService } from '../../../src/index.js';
import { toMessages } from '../../../src/agents/index.js';
import { SessionPushNotificationStore, SessionTaskStore } from '../../../src/adapters/a2a/index.js';
import { type RunningServer, startServer } from './support/server.js';
import { artifactTexts, idsOf, listOf, message, messageIds } from './support/tasks.js';

const { TASK_STATE_CANCELED, TASK_STATE_COMPLETED, TASK_STATE_INPUT_REQUIRED } = TaskState;

/** Two instances of the SDK's server over one store. */
describe('A server of A2A over sessions', () => {
  const storage = new InMemorySessionStorage();
  const sessions = new SessionService({ storage });
  const store = new InMemoryComponentStore({});
  const servers: RunningServer[] = [];
  beforeAll(async () => {
    for (const service of [sessions, new SessionService({ storage })]) {
      const tasks = new SessionTaskStore({ sessions: service, appName: 'shop' });
      const push = new SessionPushNotificationStore({
        components: new ComponentSession({ store }),
        appName: 'shop',
        allowUrl: ({ hostname }) => hostname === '127.0.0.1',
      });
      servers.push(await startServer(() => ({ tasks, push })));
    }
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await sessions.close();
  });
  const clientOf = (index: number): RunningServer['client'] => {
    const server = servers[index];
    if (!server) throw new Error('There are two');
    return server.client;
  };

  it('answers, and another instance tells about the task', async () => {
    const task = taskIn(await clientOf(0).sendMessage(saying(message('m1', 'count'))));
    expect(task.status?.state).toBe(TASK_STATE_COMPLETED);
    expect(artifactTexts(task)).toEqual({ numbers: ['1', '2', '3'] });
    expect(await clientOf(1).getTask({ tenant: '', id: task.id })).toEqual(task);
    expect(messageIds(await clientOf(1).getTask({ tenant: '', id: task.id, historyLength: 0 }))).toEqual([]);
    await expect(clientOf(1).getTask({ tenant: '', id: 'unknown' })).rejects.toThrow(/not found/);
    // The conversation is that of the session.
    const session = await sessions.getSession({ appName: 'shop', userId: 'ann', sessionId: task.id });
    expect(toMessages(session?.events ?? [], { format: 'openai' })).toMatchObject([
      { role: 'user', content: 'count' },
      { role: 'assistant', content: '1' },
      { role: 'assistant', content: '2' },
      { role: 'assistant', content: '3' },
    ]);
  });

  it('streams, asks back, and another instance goes on', async () => {
    const kinds: unknown[] = [];
    let taskId = '';
    for await (const { payload } of clientOf(0).sendMessageStream(saying(message('m2', 'ask')))) {
      kinds.push(payload?.$case);
      if (payload?.$case === 'task') taskId = payload.value.id;
    }
    expect(kinds).toEqual(['task', 'statusUpdate']);
    const asked = await clientOf(1).getTask({ tenant: '', id: taskId });
    expect(asked.status).toMatchObject({
      state: TASK_STATE_INPUT_REQUIRED,
      message: { messageId: `question of ${taskId}` },
    });
    const done = taskIn(await clientOf(1).sendMessage(saying({ ...message('m3', 'count'), taskId })));
    expect(messageIds(done)).toEqual(['m2', `question of ${taskId}`, 'm3']);
    await expect(clientOf(0).sendMessage(saying({ ...message('m4'), taskId }))).rejects.toThrow(/terminal state/);
  });

  it('cancels a task of another instance, and lists tasks in pages', async () => {
    const request = { ...saying(message('m5', 'wait')), configuration: { ...configuration, returnImmediately: true } };
    const running = taskIn(await clientOf(0).sendMessage(request));
    const cancelled = await clientOf(1).cancelTask({ tenant: '', id: running.id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TASK_STATE_CANCELED);
    const first = await clientOf(0).listTasks(listOf({ pageSize: 2 }));
    expect(first).toMatchObject({ totalSize: 3, pageSize: 2 });
    const second = await clientOf(1).listTasks(listOf({ pageSize: 2, pageToken: first.nextPageToken }));
    expect(idsOf([...first.tasks, ...second.tasks])).toHaveLength(3);
    expect(first.tasks[0]?.id).toBe(running.id);
    const done = await clientOf(1).listTasks(listOf({ status: TASK_STATE_COMPLETED, includeArtifacts: true }));
    expect(done.tasks.map(artifactTexts)).toEqual([{ numbers: ['1', '2', '3'] }, { numbers: ['1', '2', '3'] }]);
  });

  it('tells the address that a client left at another instance', async () => {
    // The sender of the SDK tells about each notification that arrived.
    const arrived = jest.spyOn(console, 'info').mockImplementation();
    const told: string[] = [];
    const hook = createServer((request, response) => {
      told.push(String(request.headers['x-a2a-notification-token']));
      request.resume();
      response.end();
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`;
    const asked = taskIn(await clientOf(0).sendMessage(saying(message('m6', 'ask'))));
    const config = { tenant: '', taskId: asked.id, id: 'mine', url, token: 'token-1', authentication: undefined };
    await clientOf(0).createTaskPushNotificationConfig(config);
    await clientOf(1).sendMessage(saying({ ...message('m7', 'count'), taskId: asked.id }));
    const { configs } = await clientOf(1).listTaskPushNotificationConfig({
      tenant: '',
      taskId: asked.id,
      pageSize: 10,
      pageToken: '',
    });
    expect(configs).toEqual([config]);
    // The task, three chunks and the status.
    while (arrived.mock.calls.length < 5) await new Promise((resolve) => setImmediate(resolve));
    expect(new Set(told)).toEqual(new Set(['token-1']));
    expect(told).toHaveLength(5);
    hook.closeAllConnections();
    hook.close();
  });
});

const configuration = {
  acceptedOutputModes: [],
  taskPushNotificationConfig: undefined,
  returnImmediately: false,
};

function saying(said: Message): SendMessageRequest {
  return { tenant: '', message: said, configuration, metadata: undefined };
}

function taskIn(result: Message | Task): Task {
  if (!('artifacts' in result)) throw new Error('The agent answers with tasks');
  return result;
}
