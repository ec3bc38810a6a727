import { DefaultRequestHandler, JsonRpcTransportHandler, type ServerCallContext } from '@a2a-js/sdk/server';
import { Logger } from '@nestjs/common';
import {
  SessionPushNotificationStore,
  SessionRequestHandler,
  SessionTaskStore,
} from '../../../src/adapters/a2a/index.js';
import { SessionEventStore } from '../../../src/adapters/mcp/index.js';
import { ComponentSession } from '../../../src/components/index.js';
import { StoreUnavailableError } from '../../../src/index.js';
import { RedisSessionService } from '../../../src/redis.js';
import { CountingAgent, cardOf } from '../a2a/support/server.js';
import { callOf, listOf, taskOf } from '../a2a/support/tasks.js';

/** An address that nothing is at. */
const ADDRESS = '127.0.0.1:1';
const WITHOUT_ADDRESS = expect.stringMatching(/^There was no connection to Redis (?!at)(?!.*127)/) as string;

describe('Frameworks that tell clients the messages of errors', () => {
  const sessions = new RedisSessionService({ url: `redis://${ADDRESS}`, commandTimeoutMs: 100 });
  const scope = { appName: 'shop' };
  const tasks = new SessionTaskStore({ sessions, ...scope });
  const push = new SessionPushNotificationStore({
    components: new ComponentSession({ sessions }),
    ...scope,
    allowUrl: () => true,
  });
  const events = new SessionEventStore({ sessions, ...scope, userId: 'ann', mcpSessionId: 'm' });
  const config = { tenant: '', taskId: 't', id: 'c', url: 'https://x.test', token: '', authentication: undefined };
  const place = `0-1-${'0'.repeat(24)}`;
  let logged: jest.SpyInstance;
  beforeEach(() => {
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
  });
  afterEach(() => logged.mockRestore());
  afterAll(() => sessions.close());

  it.each<[string, (call: ServerCallContext) => Promise<unknown>]>([
    ['a task is loaded', (call) => tasks.load('t', call)],
    ['a task is saved', (call) => tasks.save(taskOf('t'), call)],
    ['tasks are listed', (call) => tasks.list(listOf(), call)],
    ['an address for notifications is saved', (call) => push.save('t', call, config)],
    ['addresses for notifications are loaded', (call) => push.load('t', call)],
    ['a message is stored', () => events.storeEvent('s', { jsonrpc: '2.0', method: 'm' })],
    ['a stream is looked for', () => events.getStreamIdForEventId(place)],
    ['a stream is resumed', () => events.replayEventsAfter(place, { send: async () => undefined })],
    ['messages are removed', () => events.clear()],
  ])('tell no address of the store when %s, and the log does', async (_what, ask) => {
    const told = { message: WITHOUT_ADDRESS, code: 'STORE_UNAVAILABLE', cause: expect.any(StoreUnavailableError) };
    await expect(ask(callOf())).rejects.toMatchObject(told);
    expect(logged.mock.calls).toEqual([[WITHOUT_ADDRESS, expect.stringContaining(ADDRESS)]]);
  });

  it.each([SessionRequestHandler, DefaultRequestHandler])('tell it to no client of A2A with %p', async (Handler) => {
    const rpc = new JsonRpcTransportHandler(new Handler(cardOf(), tasks, new CountingAgent()));
    const request = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 't' } };
    expect(await rpc.handle(request, callOf())).toMatchObject({ error: { code: -32603, message: WITHOUT_ADDRESS } });
    expect(logged).toHaveBeenCalledTimes(1);
  });

  it('tell what has nothing to hide as it is', async () => {
    await expect(events.replayEventsAfter('x', { send: async () => undefined })).rejects.toMatchObject({
      name: 'InvalidInputError',
    });
    await expect(tasks.list({ ...listOf(), pageToken: 'x' }, callOf())).rejects.toMatchObject({
      name: 'RequestMalformedError',
    });
    expect(logged).not.toHaveBeenCalled();
  });
});
