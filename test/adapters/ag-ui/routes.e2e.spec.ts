import { EventType } from '@ag-ui/core';
import { AgentsModule, AgentSessions } from '../../../src/agents/index.js';
import { AgUiModule } from '../../../src/adapters/ag-ui/index.js';
import { InMemorySessionStorage } from '../../../src/index.js';
import { RUNS_AS_AG_UI, checkedInput, readThreadSession } from '../../../src/adapters/ag-ui/run-input.js';
import { type AccessUser, clientAccess } from '../../../src/sessions/rest/index.js';
import { RestApp, frameworks } from '../../rest/rest-app.js';
import { until } from '../../support/until.js';
import { Support, closeGate, gate } from './support/agent.js';
import { Instance } from './support/instance.js';
import { Follower, TestAgent, textsIn } from './support/client.js';

const MESSAGE = { id: 'u2', role: 'user', content: 'hello' };
const KEY = { appName: 'shop', userId: 'ann', sessionId: 't1' };

function userOf(request: unknown): AccessUser | undefined {
  const { user } = (request as { readonly headers: Record<string, string | undefined> }).headers;
  return user === undefined ? undefined : { id: user };
}

describe('The input of a run', () => {
  it('is checked once, for the rules of access and the route', () => {
    let reads = 0;
    const body = {
      get threadId() {
        reads++;
        return 't1';
      },
      runId: 'r1',
    };
    expect(readThreadSession(body, { appName: 'shop', userId: 'ann' })).toEqual(KEY);
    RUNS_AS_AG_UI(body);
    expect(checkedInput(body)).toMatchObject({ threadId: 't1', messages: [] });
    expect(reads).toBe(1);
  });
});

it.each(frameworks)('A run on %s says that its instance closes, and goes on at another one', async (framework) => {
  const storage = new InMemorySessionStorage();
  const leaving = await Instance.start(framework, storage);
  const other = await Instance.start(framework, storage);
  try {
    closeGate();
    const page = leaving.page().say('slowly', 'u1');
    const over = page.runAgent({ runId: 'r1' }).catch(() => undefined);
    await until(() => Object.values(page.texts).includes('Half '));
    await leaving.closeAgents();
    await over;
    expect(page.received.at(-1)?.event).toMatchObject({ type: EventType.RUN_ERROR, code: 'AGENTS_CLOSING' });
    const refused = await leaving.post('run', { threadId: 't1', runId: 'r2', messages: [MESSAGE] });
    expect([refused.status, refused.body.code]).toEqual([503, 'AGENTS_CLOSING']);
    gate.open();
    const next = other.page().say('slowly', 'u1');
    await next.runAgent({ runId: 'r1' });
    expect(next.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Half an answer.' });
  } finally {
    await leaving.close();
    await other.close();
  }
});

describe.each(frameworks)('AG-UI on %s', (framework) => {
  let app: RestApp;
  let base: string;

  beforeAll(async () => {
    app = await RestApp.start(framework, {
      access: clientAccess({ userOf, writes: { controls: ['approval'], content: ['text', 'functionResponse'] } }),
      isAccessGlobal: true,
      imports: [
        AgentsModule.forRoot({ isGlobal: true, pollMs: 50, drainMs: 0, partials: { flushMs: 1 } }),
        AgentsModule.forFeature([Support]),
        AgUiModule.forRoot(),
      ],
    });
    base = `${app.url}/apps/shop/users/ann/ag-ui`;
  });
  beforeEach(() => app.sessions.deleteSession(KEY));
  afterAll(() => app.close());

  const agentOf = (threadId = 't1', user = 'ann'): TestAgent => new TestAgent(base, { threadId, headers: { user } });

  it('runs the agent, and creates the thread', async () => {
    const agent = agentOf().say('hello', 'u1');
    const { newMessages } = await agent.runAgent();
    expect(newMessages).toMatchObject([{ role: 'assistant', content: 'echo: hello', name: 'support' }]);
    expect(agent.types).toEqual([
      'RUN_STARTED',
      'STATE_SNAPSHOT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    await agent.say('again', 'u2').runAgent();
    const { events } = await app.sessions.listEvents(KEY);
    const texts = events.map(({ author, content }) => [author, content?.parts?.[0]?.text]).filter(([, text]) => text);
    expect(texts).toEqual([
      ['user', 'hello'],
      ['support', 'echo: hello'],
      ['user', 'again'],
      ['support', 'echo: again'],
    ]);
  });

  it('shows nothing of a thread that nobody has begun, and does not create it', async () => {
    const agent = agentOf();
    await agent.connectAgent();
    expect(agent.types).toEqual(['RUN_STARTED', 'STATE_SNAPSHOT', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    expect([agent.messages, agent.state]).toEqual([[], {}]);
    expect(await app.sessions.getSession(KEY)).toBeUndefined();
    // Raw readers are not left without an end either, and one that has seen the thread is told that it is gone.
    const input = { threadId: 't1', runId: 'r' };
    expect(await post('connect', input)).toMatchObject({ status: 200, text: expect.stringContaining('RUN_FINISHED') });
    expect(await post('connect', input, { 'last-event-id': '5' })).toMatchObject({ status: 404 });
    expect(await post('connect', input, { user: 'bob' })).toMatchObject({ status: 404 });
    await agent.say('hello', 'u1').runAgent();
    expect(agent.messages.map(({ content }) => content)).toEqual(['hello', 'echo: hello']);
  });

  it('shows thoughts, tools and changes of the state', async () => {
    await app.sessions.createSession({ ...KEY, state: { draft: 1, kept: true } });
    const agent = agentOf().say('think', 'u1');
    await agent.runAgent();
    expect(agent.state).toMatchObject({ kept: true, mood: 'calm', 'user:lang': 'en', 'a/b': 1 });
    expect(agent.state).not.toHaveProperty('draft');
    expect(agent.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'think'],
      ['reasoning', 'Hm, ok.'],
      ['assistant', 'Done.'],
    ]);
    await agent.say('weather', 'u2').runAgent();
    expect(agent.messages.slice(3)).toMatchObject([
      { id: 'u2', role: 'user' },
      { role: 'assistant', toolCalls: [{ id: 'c1', function: { name: 'weather', arguments: '{}' } }] },
      { role: 'tool', toolCallId: 'c1', content: '{"sun":true}' },
      { role: 'assistant', content: 'echo: weather' },
    ]);
    // A page that is loaded now sees the same, with the same ids.
    const fresh = agentOf();
    await fresh.connectAgent();
    expect(fresh.messages).toEqual(agent.messages);
    expect(fresh.state).toEqual(agent.state);
  });

  it('interrupts for an approval, also for a page that is loaded later, and goes on with the answer', async () => {
    await agentOf().say('refund', 'u1').runAgent();
    const agent = agentOf();
    await agent.connectAgent();
    expect(agent.pendingInterrupts).toMatchObject([
      {
        reason: 'tool_call',
        message: 'Refund?',
        toolCallId: 'c1',
        metadata: { tool: 'refund', payload: { euros: 9 } },
      },
    ]);
    const [interrupt] = agent.pendingInterrupts;
    const resume = [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: { note: 'ok' } }];
    const { newMessages } = await agent.runAgent({ resume });
    expect(newMessages).toMatchObject([
      { role: 'tool', toolCallId: 'c1', content: JSON.stringify({ confirmed: true, payload: { note: 'ok' } }) },
      { role: 'assistant', content: 'echo: refund' },
    ]);
    expect(agent.pendingInterrupts).toEqual([]);
  });

  it('says what an answer holds and until when, and does not show an interrupt that nobody can answer any more', async () => {
    await agentOf().say('refund in an hour', 'u1').runAgent();
    const agent = agentOf();
    await agent.connectAgent();
    const [interrupt] = agent.pendingInterrupts;
    expect(interrupt).toMatchObject({
      responseSchema: { type: 'object', required: ['euros'], properties: { euros: { type: 'number' } } },
      expiresAt: expect.stringMatching(/^2\d{3}-.*Z$/) as string,
    });
    const late = Date.parse(interrupt?.expiresAt ?? '');
    const clock = jest.spyOn(Date, 'now').mockReturnValue(late);
    try {
      const page = agentOf();
      await page.connectAgent();
      expect(page.pendingInterrupts).toEqual([]);
    } finally {
      clock.mockRestore();
    }
  });

  it('takes the answer of a page that goes on in the same run, and adds a result of the tool, as CopilotKit does', async () => {
    const agent = agentOf().say('refund', 'u1');
    await agent.runAgent({ runId: 'r1' });
    const [interrupt] = agent.pendingInterrupts;
    agent.addMessage({ id: 'page', role: 'tool', toolCallId: 'c1', content: '{"approved":true}' });
    const resume = [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: { approved: true } }];
    await agent.runAgent({ runId: 'r1', resume });
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'echo: refund' });
    const fresh = agentOf();
    await fresh.connectAgent();
    expect(fresh.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  it('calls tools of the client, whose results are the next messages', async () => {
    const agent = agentOf().say('paint', 'u1');
    const tools = [{ name: 'setColor', description: 'Paints.', parameters: { type: 'object' } }];
    await agent.runAgent({ tools });
    expect(agent.received.at(-1)?.event).toMatchObject({
      outcome: { type: 'success', pendingToolCallIds: ['front-1'] },
    });
    agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'front-1', content: 'painted' });
    const { newMessages } = await agent.runAgent({ tools });
    expect(newMessages).toMatchObject([{ role: 'assistant', content: 'result: {"result":"painted"}' }]);
    const fresh = agentOf();
    await fresh.connectAgent();
    expect(fresh.messages).toEqual(agent.messages);
  });

  it('stores a message once, however often it is sent, and runs a repeated run once', async () => {
    const agent = agentOf().say('hello', 'u1');
    await agent.runAgent({ runId: 'r1' });
    await agentOf().say('hello', 'u1').runAgent({ runId: 'r1' });
    const { events } = await app.sessions.listEvents(KEY);
    expect(events.filter(({ content }) => content?.parts)).toHaveLength(2);
    const other = await post('run', {
      threadId: 't1',
      runId: 'r1',
      messages: [
        { id: 'u1', role: 'user', content: 'hello' },
        { id: 'a1', role: 'assistant', content: 'local' },
        { id: 'u2', role: 'user', content: 'must not be lost' },
      ],
    });
    expect(other).toMatchObject({ status: 409, text: expect.stringContaining('EVENT_CONFLICT') });
    const again = await post('run', {
      threadId: 't1',
      runId: 'r2',
      messages: [{ id: 'u1', role: 'user', content: 'hello' }],
    });
    expect(again).toMatchObject({ status: 400, text: expect.stringContaining('no new message') });
  });

  it('tells a reader who comes in mid-answer each character once', async () => {
    closeGate();
    const running = agentOf().say('slowly', 'u1');
    const over = running.runAgent();
    await until(() => Object.keys(running.texts).length > 0);
    const late = agentOf();
    const read = late.connectAgent();
    await until(() => Object.keys(late.texts).length > 0);
    gate.open();
    await Promise.all([over, read]);
    for (const agent of [running, late]) expect(Object.values(agent.texts).join('')).toBe('Half an answer.');
    expect(late.messages).toEqual(running.messages);
    expect(late.types.filter((type) => type === 'RUN_FINISHED')).toHaveLength(2);
  });

  it('continues a stream after its last event, and shows later runs', async () => {
    await agentOf().say('hello', 'u1').runAgent();
    closeGate();
    const first = await Follower.open(base);
    const over = agentOf().say('slowly', 'u2').runAgent();
    await until(() => Object.values(textsIn(first.received)).includes('Half '));
    first.leave();
    const lastId = first.received.at(-1)?.id ?? '';
    const second = await Follower.open(base, { 'last-event-id': lastId });
    gate.open();
    await over;
    await agentOf().say('third', 'u3').runAgent();
    await until(() => second.count(EventType.RUN_FINISHED) === 2);
    second.leave();
    const all = [...first.received, ...second.received];
    expect(Object.values(textsIn(all))).toEqual(['slowly', 'Half an answer.', 'third', 'echo: third']);
    const ofRuns = all.map(({ event }) => event.type).filter((type) => type.startsWith('RUN_'));
    expect(ofRuns).toEqual(Array.from({ length: 3 }, () => ['RUN_STARTED', 'RUN_FINISHED']).flat());
    for (const bad of ['x', '1;!!', '5.1']) {
      expect(await post('connect', { threadId: 't1', runId: 'r' }, { 'last-event-id': bad })).toMatchObject({
        status: 400,
      });
    }
  });

  it('goes on when the client leaves, and says so when the run is stopped or fails', async () => {
    closeGate();
    const agent = agentOf().say('slowly', 'u1');
    const left = agent.runAgent().catch(() => undefined);
    await until(() => agent.types.length > 2);
    const watching = await Follower.open(base);
    agent.abortRun();
    await left;
    expect(await app.get(AgentSessions).stop(KEY)).toBe(true);
    await until(() => watching.received.at(-1)?.event.type === EventType.RUN_FINISHED && watching.received.length > 5);
    expect(watching.received.at(-1)?.event).toMatchObject({ outcome: { type: 'cancelled' } });
    watching.leave();
    const failing = agentOf().say('fail', 'u2');
    await failing.runAgent().catch(() => undefined);
    expect(failing.received.at(-1)?.event).toMatchObject({ type: 'RUN_ERROR', code: 'AGENT_FAILED' });
    expect(JSON.stringify(failing.received)).not.toContain('secret');
  });

  it('shows a rewind', async () => {
    const agent = agentOf().say('hello', 'u1');
    await agent.runAgent();
    const watching = await Follower.open(base);
    await app.sessions.rewindSession({ ...KEY, toSeq: 0 });
    await until(() => watching.count(EventType.MESSAGES_SNAPSHOT) === 2);
    expect(watching.received.findLast(({ event }) => event.type === EventType.MESSAGES_SNAPSHOT)?.event).toMatchObject({
      messages: [],
    });
    watching.leave();
  });

  it('refuses strangers, what clients may not write, and what is no input', async () => {
    await agentOf().say('hello', 'u1').runAgent();
    for (const path of ['run', 'connect']) {
      const body = { threadId: 't1', runId: 'r', messages: [{ id: 'x', role: 'user', content: 'hi' }] };
      expect(await post(path, body, { user: 'bob' })).toMatchObject({ status: 404 });
      for (const bad of [
        {},
        { threadId: 1, runId: 'r' },
        { threadId: 't1', runId: 'r', messages: 'x' },
        { threadId: 't1', runId: 'r', messages: [{ role: 'user', content: 'hi' }] },
        { threadId: 't1', runId: 'r', resume: [{}] },
      ])
        expect((await post(path, bad)).status).toBe(400);
    }
    const file = [{ type: 'image', source: { type: 'data', value: 'AA==', mimeType: 'image/png' } }];
    expect(await run({ id: 'x', role: 'user', content: file })).toMatchObject({ status: 403 });
    expect(await run({ id: 'x', role: 'tool', toolCallId: 'nobody', content: '1' })).toMatchObject({ status: 400 });
    expect(await run({ id: 'x', role: 'user', content: '' })).toMatchObject({ status: 400 });
    expect(await run({ id: 'x', role: 'user', content: ' ' })).toMatchObject({ status: 400 });
    expect(await run({ id: 'x', role: 'user' })).toMatchObject({ status: 400 });
    expect((await app.sessions.listEvents(KEY)).events.filter(({ content }) => content?.parts)).toHaveLength(2);
  });

  const run = (message: object) => post('run', { threadId: 't1', runId: 'r9', messages: [message] });

  async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
    return app.request('POST', `/apps/shop/users/ann/ag-ui/${path}`, body, { user: 'ann', ...headers });
  }
});
