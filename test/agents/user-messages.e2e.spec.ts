import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { SessionsClient } from '../../src/client/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp } from '../rest/rest-app.js';
import { EMPTY_MESSAGES, FULL_MESSAGES } from './support/user-messages.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const PATH = '/apps/shop/users/ann/sessions/s-1';

describe('messages to agents over HTTP', () => {
  let app: RestApp;

  beforeAll(async () => {
    app = await RestApp.start('Express', { agents: true });
    await app.sessions.createSession(KEY);
  });
  afterAll(() => app.close());

  const log = async () => (await app.sessions.listEvents({ ...KEY, limit: 1_000 })).events;

  it.each([`${PATH}/run`, `${PATH}/run_sse`, '/run', '/run_sse'])(
    'are refused by %s if they say nothing',
    async (path) => {
      const before = await log();
      for (const newMessage of [...EMPTY_MESSAGES, null, undefined]) {
        const { status, body } = await app.request('POST', path, { ...(path.startsWith('/run') && KEY), newMessage });
        expect([newMessage, status, body.code]).toEqual([newMessage, 400, 'INVALID_INPUT']);
        expect(body.path).toMatch(/^newMessage/);
      }
      expect(await log()).toEqual(before);
    },
  );

  it.each([`${PATH}/run`, `${PATH}/run_sse`, '/run', '/run_sse'])(
    'are taken by %s, also as plain text',
    async (path) => {
      for (const newMessage of FULL_MESSAGES) {
        const answer = await app.request('POST', path, { ...(path.startsWith('/run') && KEY), newMessage });
        expect([newMessage, answer.status]).toEqual([newMessage, 200]);
        expect(answer.text).toContain('echo:');
      }
    },
  );

  it('are refused and taken by the client', async () => {
    const client = new SessionsClient({ url: app.url });
    for (const newMessage of EMPTY_MESSAGES as string[]) {
      const refused = { status: 400, code: 'INVALID_INPUT' };
      await expect(client.runAgent({ ...KEY, newMessage })).rejects.toMatchObject(refused);
      await expect(client.streamAgent({ ...KEY, newMessage }).next()).rejects.toMatchObject(refused);
    }
    for (const newMessage of FULL_MESSAGES) expect(await client.runAgent({ ...KEY, newMessage })).toHaveLength(1);
  });
});

describe('messages to agents in GraphQL', () => {
  it('are refused if they say nothing, and may be plain text', async () => {
    const app = await GraphqlApp.start({ agents: true });
    const client = createClient({ url: app.webSocketUrl, webSocketImpl: WebSocket, retryAttempts: 0, lazy: true });
    const variables = '($m: JSON!)';
    const args = 'appName: "shop", userId: "ann", sessionId: "s-1", newMessage: $m';
    try {
      await app.sessions.createSession(KEY);
      for (const m of EMPTY_MESSAGES) {
        const { errors } = await app.ask(`mutation ${variables} { runAgent(${args}) { status } }`, { m });
        expect([m, errors[0]?.extensions]).toMatchObject([m, { code: 'INVALID_INPUT', status: 400 }]);
        const query = `subscription ${variables} { agentRun(${args}) { seq } }`;
        const results = client.iterate({ query, variables: { m } });
        const { value } = await results.next().catch(asValue);
        expect([m, JSON.stringify(value)]).toEqual([m, expect.stringContaining('INVALID_INPUT')]);
      }
      expect((await app.sessions.getSession(KEY))?.version).toBe(0);
      for (const m of FULL_MESSAGES) {
        const { data } = await app.ask(`mutation ${variables} { runAgent(${args}) { status } }`, { m });
        expect(data).toEqual({ runAgent: { status: 'COMPLETED' } });
      }
    } finally {
      await client.dispose();
      await app.close();
    }
  });
});

/** Errors before the first result come as a list. */
const asValue = (value: unknown) => ({ value });
