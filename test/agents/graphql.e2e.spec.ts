import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type SessionAccess, clientAccess } from '../../src/sessions/rest/index.js';
import { type Answer, GraphqlApp } from '../graphql/graphql-app.js';
import { frameworks } from '../rest/rest-app.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const ARGUMENTS = 'appName: "shop", userId: "ann", sessionId: "s-1"';
const FIELDS = 'status invocationId events { seq author content }';

interface Run {
  readonly status: string;
  readonly invocationId: string;
  readonly events: readonly { readonly seq: number; readonly content?: unknown }[];
}

interface Streamed {
  readonly data?: { readonly agentRun?: { readonly seq?: number; readonly partial: boolean } } | null;
  readonly errors?: readonly { readonly extensions?: unknown }[];
}

describe.each(frameworks)('the GraphQL fields of agents on %s', (framework) => {
  let app: GraphqlApp;

  async function start(access: SessionAccess): Promise<void> {
    app = await GraphqlApp.start({ framework, access, agents: true });
    await app.sessions.createSession(KEY);
  }

  const signedIn = { userOf: (request: unknown) => userOf(request) };
  beforeEach(() => start(clientAccess({ ...signedIn, writes: { controls: ['stop', 'approval'] } })));
  afterEach(() => app.close());

  const ask = (field: string, user = 'ann'): Promise<Answer> => app.ask(field, {}, { user });
  const run = async (field: string): Promise<Run> => {
    const { data, errors } = await ask(`mutation { ${field} }`);
    expect(errors).toEqual([]);
    return Object.values(data)[0] as Run;
  };
  const log = async () => (await app.sessions.listEvents(KEY)).events;
  const isRunning = async () => (await app.sessions.getTurn(KEY)) !== undefined && (await log()).length > 0;

  /** All results of a subscription, up to its end. */
  async function stream(query: string, user = 'ann'): Promise<Streamed[]> {
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: { user },
      retryAttempts: 0,
    });
    const results: Streamed[] = [];
    try {
      for await (const result of client.iterate({ query: `subscription { ${query} }` })) results.push(result);
    } finally {
      await client.dispose();
    }
    return results;
  }

  it('answer a message, and repeat the answer', async () => {
    const field = `runAgent(${ARGUMENTS}, newMessage: "hi", invocationId: "i-1", stateDelta: {asked: 1}) { ${FIELDS} }`;
    const first = await run(field);
    const said = { role: 'model', parts: [{ text: 'echo: hi' }] };
    expect(first).toEqual({
      status: 'COMPLETED',
      invocationId: 'i-1',
      events: [{ seq: 2, author: 'shop', content: said }],
    });
    expect(await run(field)).toEqual(first);
    const content = `runAgent(${ARGUMENTS}, newMessage: {parts: [{text: "you"}]}, policy: ENQUEUE) { ${FIELDS} }`;
    expect((await run(content)).events[0]?.seq).toBe(4);
    expect((await app.sessions.getSession(KEY))?.state.getAll()).toEqual({ asked: 1 });
  });

  it('let an agent try again', async () => {
    const request = `${ARGUMENTS}, newMessage: "fail once", invocationId: "i-1"`;
    const failed = { code: 'AGENT_FAILED', status: 500, reason: 'UNAVAILABLE', retryable: true, invocationId: 'i-1' };
    for (let times = 0; times < 2; times++)
      expect((await ask(`mutation { runAgent(${request}) { ${FIELDS} } }`)).errors).toMatchObject([
        { extensions: failed },
      ]);
    expect((await run(`runAgent(${request}, retry: true) { ${FIELDS} }`)).status).toBe('COMPLETED');
  });

  it('stream a run to its end, with partial events if they are asked for', async () => {
    const fields = '{ id seq partial author content body }';
    const quiet = await stream(`agentRun(${ARGUMENTS}, newMessage: "hi") ${fields}`);
    expect(quiet.map(({ data }) => data?.agentRun)).toMatchObject([{ seq: 2, partial: false, author: 'shop' }]);
    const all = await stream(`agentRun(${ARGUMENTS}, newMessage: "hi", streaming: true) ${fields}`);
    expect(all.map(({ data }) => data?.agentRun)).toMatchObject([
      { id: null, seq: null, partial: true, content: { parts: [{ text: 'echo' }] } },
      { seq: 4, partial: false },
    ]);
  });

  it('stop a run, and refuse a second one', async () => {
    const first = run(`runAgent(${ARGUMENTS}, newMessage: "wait") { ${FIELDS} }`);
    await until(isRunning);
    const second = await ask(`mutation { runAgent(${ARGUMENTS}, newMessage: "hi") { status } }`);
    expect(second.errors).toMatchObject([{ extensions: { code: 'TURN_HELD', holder: expect.any(String) } }]);
    const [streamed] = await stream(`agentRun(${ARGUMENTS}, newMessage: "hi") { seq }`);
    expect(streamed?.errors).toMatchObject([{ extensions: { code: 'TURN_HELD', status: 409 } }]);
    expect(await run(`stopAgent(${ARGUMENTS})`)).toBe(true);
    expect((await first).status).toBe('STOPPED');
    expect(await run(`stopAgent(${ARGUMENTS})`)).toBe(false);
  });

  it('list approvals, and answer them', async () => {
    expect((await run(`runAgent(${ARGUMENTS}, newMessage: "refund") { status }`)).status).toBe('WAITING');
    const nodes = 'nodes { sessionId approvalId tool hint payload schema call { name args } }';
    const list = `{ pendingApprovals(appName: "shop", userId: "ann") { ${nodes} pageInfo { hasNextPage } } }`;
    const { data } = await ask(list);
    const page = data['pendingApprovals'] as { nodes: { approvalId: string }[] };
    expect(page).toMatchObject({
      nodes: [{ sessionId: 's-1', tool: 'refund', hint: 'Refund?', call: { name: 'refund', args: {} } }],
      pageInfo: { hasNextPage: false },
    });
    const id = page.nodes[0]?.approvalId ?? '';
    const answer = (confirmed: boolean) =>
      `answerApproval(${ARGUMENTS}, approvalId: "${id}", confirmed: ${confirmed}, payload: {a: [null]}) { ${FIELDS} }`;
    const answered = await run(answer(true));
    expect([answered.status, answered.events.length]).toEqual(['COMPLETED', 2]);
    expect(await run(answer(true))).toEqual(answered);
    const other = await ask(`mutation { ${answer(false)} }`);
    expect(other.errors).toMatchObject([{ extensions: { code: 'APPROVAL_ANSWERED' } }]);
    expect((await ask(list)).data).toMatchObject({ pendingApprovals: { nodes: [] } });
  });

  it('are closed to other users, and to what clients may not write', async () => {
    const fields = [
      `runAgent(${ARGUMENTS}, newMessage: "hi") { status }`,
      `stopAgent(${ARGUMENTS})`,
      `answerApproval(${ARGUMENTS}, approvalId: "a@b", confirmed: true) { status }`,
    ];
    const hidden = { extensions: { code: 'SESSION_NOT_FOUND', status: 404 } };
    const anonymous = { extensions: { code: 'UNAUTHENTICATED', status: 401 } };
    for (const field of fields) {
      expect((await ask(`mutation { ${field} }`, 'bob')).errors).toMatchObject([hidden]);
      expect((await ask(`mutation { ${field} }`, '')).errors).toMatchObject([anonymous]);
    }
    const subscription = `agentRun(${ARGUMENTS}, newMessage: "hi") { seq }`;
    expect((await stream(subscription, 'bob'))[0]?.errors).toMatchObject([hidden]);
    expect((await stream(subscription, ''))[0]?.errors).toMatchObject([anonymous]);
    // A subscription over HTTP runs nothing.
    expect((await ask(`subscription { ${subscription} }`)).errors).not.toEqual([]);
    await app.close();
    await start(clientAccess({ ...signedIn, writes: { content: ['inlineData'] } }));
    const writes = [...fields, `runAgent(${ARGUMENTS}, newMessage: {parts: [{text: "hi"}]}) { status }`];
    for (const field of writes) {
      expect((await ask(`mutation { ${field} }`)).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    }
    expect((await stream(subscription))[0]?.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    expect(await log()).toEqual([]);
  });

  it('go on when the reader of a stream leaves', async () => {
    const client = createClient({ url: app.webSocketUrl, webSocketImpl: WebSocket, connectionParams: { user: 'ann' } });
    const query = `subscription { agentRun(${ARGUMENTS}, newMessage: "wait", invocationId: "i-1") { seq } }`;
    const events = client.iterate({ query });
    const first = events.next();
    await until(isRunning);
    await client.dispose();
    await first.catch(() => undefined);
    expect(await run(`stopAgent(${ARGUMENTS}, invocationId: "i-1")`)).toBe(true);
    await until(async () => (await app.sessions.getTurn(KEY)) === undefined);
    expect((await log()).at(-1)).toMatchObject({ errorCode: 'STOPPED' });
  });
});

function userOf(request: unknown): { readonly id: string } | undefined {
  const { headers, connectionParams } = request as Record<string, { user?: string } | undefined>;
  const user = connectionParams?.user ?? headers?.user;
  return user ? { id: user } : undefined;
}
