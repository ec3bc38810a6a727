import { Injectable } from '@nestjs/common';
import { type Agent, type AgentContext, AgentHandler, AgentsModule, type RunHandler } from '../../src/agents/index.js';
import { AdkRestModule } from '../../src/agents/rest/index.js';
import { type SessionAccess, clientAccess } from '../../src/sessions/rest/index.js';
import { type Answer, RestApp, frameworks } from '../rest/rest-app.js';
import { call, partial, text } from './support/handlers.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const HI = { role: 'user', parts: [{ text: 'hi' }] };
const IMAGE = { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: 'a.png' } };

/** Echoes; asks for an approval of each refund; fails if it is told so. */
@Injectable()
@AgentHandler('shop')
class Support implements Agent {
  async *run(context: AgentContext): ReturnType<RunHandler> {
    const words = context.message.parts?.[0]?.text ?? '';
    if (words === 'fail') {
      yield text('soon');
      throw new Error('a secret');
    }
    if (words === 'refund' && !context.isResumed) {
      yield { content: { role: 'model', parts: [call('c1', 'refund'), call('c2', 'refund')].flatMap(partsOf) } };
    }
    if (context.openCalls.length > 0) {
      yield await context.callTools({ refund: async (_args, tool) => tool.requestApproval({ hint: 'Refund?' }) });
    }
    yield partial('echo');
    yield text(`echo: ${words}`);
  }
}

@Injectable()
@AgentHandler('other')
class Other implements Agent {
  async *run(): ReturnType<RunHandler> {
    yield text('other');
  }
}

const partsOf = ({ content }: ReturnType<typeof call>) => content?.parts ?? [];

interface AdkEvent {
  readonly id: string;
  readonly author: string;
  readonly partial?: boolean;
  readonly content?: { readonly parts: readonly { readonly text?: string; readonly functionCall?: { id: string } }[] };
  readonly error?: string;
}

/** Reads a stream as the clients of ADK do: blocks that begin with `data: `. */
function streamed({ text: stream }: Answer): AdkEvent[] {
  const blocks = stream.split('\n\n');
  expect(blocks.pop()).toBe('');
  for (const block of blocks) expect(block).toMatch(/^data: .*$/);
  return blocks.map((block) => JSON.parse(block.slice('data: '.length)) as AdkEvent);
}

describe.each(frameworks)("ADK's routes on %s", (framework) => {
  let app: RestApp;

  async function start(access: SessionAccess): Promise<void> {
    app = await RestApp.start(framework, {
      access,
      isAccessGlobal: true,
      imports: [
        AgentsModule.forRoot({ isGlobal: true, pollMs: 50, drainMs: 0 }),
        AgentsModule.forFeature([Support, Other]),
        AdkRestModule.forRoot({ path: 'adk', sessions: true }),
      ],
    });
    await app.sessions.createSession(KEY);
  }

  const signedIn = { userOf: (request: unknown) => userOf(request) };
  beforeEach(() => start(clientAccess({ ...signedIn, writes: { controls: ['approval'] } })));
  afterEach(() => app.close());

  const post = (path: string, body: unknown, user = 'ann'): Promise<Answer> =>
    app.request('POST', `/adk${path}`, body, { user });
  const log = async () => (await app.sessions.listEvents(KEY)).events;
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const json = body !== undefined && { body: JSON.stringify(body) };
    const type = body !== undefined && { 'content-type': 'application/json' };
    const response = await fetch(`${app.url}/adk${path}`, {
      method,
      ...json,
      headers: { user: 'ann', ...type, ...headers },
    });
    // As clients of ADK read every answer.
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  it('list the apps that the caller may use', async () => {
    const list = (user: string) => app.request('GET', '/adk/list-apps?relative_path=./', undefined, { user });
    expect((await list('ann')).body).toEqual(['shop', 'other']);
    expect((await list('')).status).toBe(401);
    await app.close();
    await start(clientAccess({ ...signedIn, apps: ['shop'] }));
    expect((await list('ann')).body).toEqual(['shop']);
  });

  it('run an agent, with the names of TypeScript and of Python', async () => {
    const first = await post('/run', { ...KEY, newMessage: HI, streaming: false, stateDelta: { asked: 1 } });
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject([{ author: 'shop', content: { parts: [{ text: 'echo: hi' }] } }]);
    const python = {
      app_name: 'shop',
      user_id: 'ann',
      session_id: 's-1',
      new_message: {
        role: 'user',
        parts: [{ text: 'hi' }, { inline_data: { mime_type: 'image/png', data: 'AAAA', display_name: 'a.png' } }],
      },
      streaming: false,
      state_delta: { last_topic: 'refund' },
      function_call_event_id: null,
      invocation_id: null,
    };
    expect((await post('/run', python)).body).toMatchObject([{ author: 'shop' }]);
    expect((await log())[2]?.content).toEqual({ role: 'user', parts: [{ text: 'hi' }, IMAGE] });
    expect((await app.sessions.getSession(KEY))?.state.getAll()).toEqual({ asked: 1, last_topic: 'refund' });
  });

  it('stream one line for each event, partial ones only if asked for', async () => {
    const quiet = await post('/run_sse', { ...KEY, newMessage: HI });
    expect(quiet.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(streamed(quiet)).toEqual([(await log())[1]]);
    const [first, second] = streamed(await post('/run_sse', { ...KEY, newMessage: HI, streaming: true }));
    expect(first).toMatchObject({ partial: true, id: expect.any(String), actions: {}, timestamp: expect.any(Number) });
    expect(second).toEqual((await log())[3]);
  });

  describe('of sessions', () => {
    const SESSIONS = '/apps/shop/users/ann/sessions';

    it('create, list, read, change and delete, in the shapes of ADK', async () => {
      // As its web UI does: without a body, and so without a content type.
      const bare = await send('POST', SESSIONS);
      expect(bare).toMatchObject({ status: 200, body: { id: expect.any(String), appName: 'shop', events: [] } });
      const named = { session_id: 's-2', state: { step: 1, 'user:theme': 'dark' } };
      expect(await send('POST', SESSIONS, named)).toMatchObject({
        status: 200,
        body: { id: 's-2', state: named.state },
      });
      expect((await send('POST', `${SESSIONS}/s-3`, { state: { step: 3 } })).body).toMatchObject({ id: 's-3' });
      const list = await send('GET', SESSIONS);
      expect(Array.isArray(list.body)).toBe(true);
      expect((list.body as unknown as { id: string }[]).map(({ id }) => id).toSorted()).toEqual(
        ['s-1', 's-2', 's-3', String(bare.body['id'])].toSorted(),
      );
      await post('/run', { ...KEY, newMessage: HI });
      const read = await send('GET', `${SESSIONS}/s-1`);
      const { events, lastUpdateTime } = read.body as { events: object[]; lastUpdateTime: number };
      expect(events).toMatchObject([{ author: 'user', content: HI }, { author: 'shop' }]);
      expect(lastUpdateTime).toBeGreaterThan(1e12);
      const changed = await send('PATCH', `${SESSIONS}/s-3`, { state_delta: { step: 4 } });
      expect(changed).toMatchObject({ status: 200, body: { state: { step: 4 }, events: [{ author: 'user' }] } });
      expect(await send('DELETE', `${SESSIONS}/s-3`)).toEqual({ status: 200, body: {} });
      expect(await send('GET', `${SESSIONS}/s-3`)).toMatchObject({ status: 404, body: { error: expect.any(String) } });
    });

    it('refuse what is wrong, with `error`, and leave our routes as they are', async () => {
      const error = expect.any(String) as unknown;
      expect(await send('POST', `${SESSIONS}/s-1`, {})).toMatchObject({ status: 409, body: { error } });
      expect(await send('POST', SESSIONS, { events: [] })).toMatchObject({ status: 400, body: { error } });
      expect(await send('PATCH', `${SESSIONS}/s-1`, {})).toMatchObject({ status: 400, body: { error } });
      const plain = { 'content-type': 'text/plain' };
      expect(await send('POST', SESSIONS, undefined, plain)).toMatchObject({ status: 415, body: { error } });
      const ours = await app.request('GET', SESSIONS, undefined, { user: 'ann' });
      expect(ours.body['sessions']).toMatchObject([{ id: 's-1' }]);
    });

    it('are as closed as ours', async () => {
      const bob = { user: 'bob' };
      expect(await send('GET', SESSIONS, undefined, bob)).toMatchObject({ status: 403 });
      expect(await send('POST', SESSIONS, undefined, bob)).toMatchObject({ status: 403 });
      expect(await send('GET', `${SESSIONS}/s-1`, undefined, bob)).toMatchObject({ status: 404 });
      expect(await send('PATCH', `${SESSIONS}/s-1`, { stateDelta: { a: 1 } }, bob)).toMatchObject({ status: 404 });
      expect(await send('GET', SESSIONS, undefined, { user: '' })).toMatchObject({ status: 401 });
      expect((await send('POST', SESSIONS, { state: { 'app:price': 1 } })).status).toBe(403);
      expect((await send('PATCH', `${SESSIONS}/s-1`, { state_delta: { 'app:price': 1 } })).status).toBe(403);
      // The same answer as for a session that is missing.
      for (const id of ['s-1', 'none']) {
        expect(await send('DELETE', `${SESSIONS}/${id}`, undefined, bob)).toEqual({ status: 200, body: {} });
      }
      expect(await app.sessions.getSession(KEY)).toMatchObject({ version: 0, state: {} });
    });
  });

  it('answer approvals, as messages of ADK do', async () => {
    const asked = (await post('/run', { ...KEY, newMessage: { parts: [{ text: 'refund' }] } }))
      .body as unknown as AdkEvent[];
    const ids = (asked[1]?.content?.parts ?? []).map(({ functionCall }) => functionCall?.id);
    expect(ids).toHaveLength(2);
    const answers = [{ confirmed: true }, { response: '{"confirmed":false}' }];
    const parts = answers.map((response, index) => ({
      functionResponse: { id: ids[index], name: 'adk_request_confirmation', response },
    }));
    const body = { ...KEY, newMessage: { role: 'user', parts }, functionCallEventId: asked[1]?.id };
    const events = streamed(await post('/run_sse', body));
    expect(events.at(-1)).toMatchObject({ content: { parts: [{ text: 'echo: refund' }] } });
    const responses = (await log()).flatMap(({ content }) => content?.parts ?? []);
    const refunds = responses.flatMap(({ functionResponse }) =>
      functionResponse?.name === 'refund' ? [functionResponse.response] : [],
    );
    expect(refunds).toEqual([{ confirmed: true }, { confirmed: false, reason: 'The user refused.' }]);
    const repeated = (await post('/run', body)).body as unknown as AdkEvent[];
    expect(repeated.map(({ id }) => id).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  });

  it('name problems as the clients of ADK read them', async () => {
    const missing = await post('/run_sse', { ...KEY, sessionId: 'none', newMessage: HI });
    expect(missing).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND', error: expect.any(String) } });
    expect(missing.body['error']).toBe(missing.body['detail']);
    for (const body of [{}, { ...KEY }, { ...KEY, userId: 7 }, { ...KEY, newMessage: HI, customMetadata: {} }]) {
      expect(await post('/run', body)).toMatchObject({ status: 400, body: { error: expect.any(String) } });
    }
    const unknown = await post('/run', { ...KEY, appName: 'none', newMessage: HI });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'AGENT_NOT_FOUND' } });
    const failed = await post('/run_sse', { ...KEY, newMessage: { parts: [{ text: 'fail' }] } });
    const last = streamed(failed).at(-1);
    expect(last).toMatchObject({ error: 'The agent failed.', code: 'AGENT_FAILED' });
    expect(failed.text).not.toContain('secret');
  });

  it('are as closed as those below a session', async () => {
    for (const path of ['/run', '/run_sse']) {
      const body = { ...KEY, newMessage: HI };
      expect(await post(path, body, 'bob')).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
      expect((await post(path, body, '')).status).toBe(401);
      // What is checked is what is used.
      const twice = { ...body, userId: 'bob', user_id: 'ann' };
      expect((await post(path, twice, 'bob')).status).toBe(404);
    }
    await app.close();
    await start(clientAccess(signedIn));
    const confirm = {
      functionResponse: { id: 'a@b', name: 'adk_request_confirmation', response: { confirmed: true } },
    };
    const refused = [
      { ...KEY, newMessage: { parts: [confirm] } },
      { ...KEY, newMessage: { parts: [confirm, { text: 'hi' }] } },
      { ...KEY, new_message: { parts: [{ function_response: { name: 'refund', response: {} } }] } },
      { ...KEY, newMessage: HI, state_delta: { 'app:price': 1 } },
      { ...KEY, newMessage: HI, policy: 'interrupt' },
    ];
    for (const body of refused) expect((await post('/run', body)).status).toBe(403);
    expect(await log()).toEqual([]);
  });
});

function userOf(request: unknown): { readonly id: string } | undefined {
  const { user } = (request as { headers: { user?: string } }).headers;
  return user ? { id: user } : undefined;
}
