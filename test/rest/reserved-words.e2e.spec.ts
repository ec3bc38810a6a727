import { AgentsModule } from '../../src/agents/index.js';
import { AgUiModule } from '../../src/adapters/ag-ui/index.js';
import { AdkRestModule, AgentsRestModule } from '../../src/agents/rest/index.js';
import { type AccessRequest, type ClientWrites, SessionAccess, clientAccess } from '../../src/sessions/rest/index.js';
import { RESERVED_ACTIONS, RESERVED } from '../../src/sessions/domain/values/reserved-words.js';
import { TestAgent } from '../support/http-app.js';
import { userOf } from '../support/writes.js';
import { type Answer, RestApp } from './rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = '/apps/shop/users/ann/sessions/s';
const ANN = { 'x-user': 'ann' };
const HI = { role: 'user', parts: [{ text: 'hi' }] };

/** All that an app may allow by name, but nothing that is reserved. */
const GENEROUS: ClientWrites = {
  controls: ['rewind', 'fork', 'summary', 'turn', 'stop', 'approval', 'metadataDelta', 'actions.transferToAgent'],
  fields: ['branch', 'customMetadata'],
};

let app: RestApp;
const start = async (access: SessionAccess): Promise<void> => {
  app = await RestApp.start('Express', {
    access,
    isAccessGlobal: true,
    imports: [
      AgentsModule.forRoot({ isGlobal: true, pollMs: 50, drainMs: 0 }),
      AgentsModule.forFeature([TestAgent]),
      AgentsRestModule.forRoot(),
      AdkRestModule.forRoot({ path: 'adk', sessions: true }),
      AgUiModule.forRoot(),
    ],
  });
  await app.sessions.createSession(KEY);
};
const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  app.request('POST', path, body, { ...ANN, ...headers });
const log = async () => (await app.sessions.listEvents(KEY)).events;
afterEach(() => app.close());

describe('reserved words', () => {
  beforeEach(() => start(clientAccess({ userOf, writes: GENEROUS })));

  it.each(Object.values(RESERVED.ids))('%s begins no id of a client, however generous the rule is', async (word) => {
    const id = word.endsWith(':') ? `${word}c1@i1` : word;
    const refused = [
      await post(`${SESSION}/events`, { author: 'user', id }),
      await post(`${SESSION}/events`, { author: 'user', id, partial: true }),
      await post(`${SESSION}/events`, { author: 'user', invocationId: id }),
      await post(`${SESSION}/events/batch`, { events: [{ author: 'user' }, { author: 'user', id }] }),
      await post(`${SESSION}/run`, { newMessage: HI, invocationId: id }),
      await post(`${SESSION}/run_sse`, { newMessage: HI, invocationId: id }),
      await post('/adk/run', { ...KEY, new_message: HI, invocation_id: id }),
      await post('/adk/run_sse', { ...KEY, newMessage: HI, invocationId: id }),
      await post('/apps/shop/users/ann/ag-ui/run', {
        threadId: 's',
        runId: id,
        messages: [{ id: 'm', role: 'user', content: 'hi' }],
      }),
    ];
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(refused.map(() => [403, 'FORBIDDEN']));
    expect(refused[0]?.text).toContain(`reserved:${word}`);
    // Guards see the body alone.
    const byHeader = await post(`${SESSION}/events`, { author: 'user' }, { 'idempotency-key': id });
    expect([byHeader.status, byHeader.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(await log()).toEqual([]);
  });

  it.each([
    { labels: { 'agents:approval': 'pending' } },
    { labels: { 'openai:root': 's' } },
    { fields: { 'agents:approval:c1@i1': {} } },
    { fields: { 'agents:queued:i1': 's' } },
  ])('are no names of metadata: %p', async (metadata) => {
    expect((await post('/apps/shop/users/ann/sessions', { metadata })).status).toBe(403);
    expect((await post(`${SESSION}/events`, { author: 'user', actions: { metadataDelta: metadata } })).status).toBe(
      403,
    );
    const removed = { fieldRemovals: Object.keys(metadata.fields ?? {}), tags: { add: ['agents:x'] } };
    const removal = { author: 'user', actions: { metadataDelta: removed } };
    expect((await post(`${SESSION}/events`, removal)).status).toBe(403);
    expect(await log()).toEqual([]);
    const own = { author: 'user', actions: { metadataDelta: { title: 'Mine', labels: { team: 'a' } } } };
    expect((await post(`${SESSION}/events`, own)).status).toBe(201);
  });

  it('are no state keys: heads of LangGraph, and what an AG-UI client offers', async () => {
    for (const stateDelta of [{ 'langgraph:': { thread: 's' } }, { 'temp:ag-ui': { tools: [] } }]) {
      expect((await app.request('PATCH', `${SESSION}/state`, { stateDelta }, ANN)).status).toBe(403);
      expect((await post(`${SESSION}/run`, { newMessage: HI, stateDelta })).status).toBe(403);
    }
    expect(await log()).toEqual([]);
  });

  it('are free for the service itself, so that a client finds its approval answered', async () => {
    const asked = await post(`${SESSION}/run`, { newMessage: { parts: [{ text: 'refund' }] }, invocationId: 'i1' });
    expect(asked.status).toBe(200);
    expect((await post(`${SESSION}/events`, { author: 'user', id: 'answer:c1@i1' })).status).toBe(403);
    expect((await post(`${SESSION}/approvals/c1@i1`, { confirmed: true })).status).toBe(200);
    expect((await log()).map(({ id }) => id)).toEqual(expect.arrayContaining(['message:i1', 'answer:c1@i1']));
  });
});

describe('the right to an operation', () => {
  const STOP_SHAPES = [5, 'x', [], {}, { invocationId: {} }, { invocationId: 'i1' }, true, 0, ''];

  it('is none to raw actions of events, of any shape', async () => {
    await start(clientAccess({ userOf, writes: GENEROUS }));
    expect((await post(`${SESSION}/stop`, {})).status).toBe(200);
    for (const name of RESERVED_ACTIONS) {
      for (const shape of STOP_SHAPES) {
        const event = { author: 'user', actions: { [name]: shape } };
        expect((await post(`${SESSION}/events`, event)).status).toBe(403);
      }
    }
    expect((await post(`${SESSION}/events`, { author: 'user', actions: { rewind: { toSeq: 0 } } })).status).toBe(403);
    const transfer = { author: 'user', actions: { transferToAgent: 'a' } };
    expect((await post(`${SESSION}/events`, transfer)).status).toBe(201);
    expect(await log()).toHaveLength(1);
  });

  it('is refused by a rule of ones own with the words that allow it', async () => {
    class Own extends SessionAccess {
      override userOf = userOf;
      allows({ user, userId }: AccessRequest): boolean {
        return userId === user.id;
      }
    }
    await start(new Own());
    for (const [path, control, body] of [
      ['stop', 'stop', {}],
      ['approvals/c1@i1', 'approval', { confirmed: true }],
    ] as const) {
      const { status, body: problem } = await post(`${SESSION}/${path}`, body);
      expect(status).toBe(403);
      expect(problem.detail).toContain(`clientAccess({ writes: { controls: ["${control}"] } })`);
      expect(problem.detail).toContain(`isClientWrite(write, { controls: ["${control}"] }) in allowsWrite()`);
    }
    // There it would not help.
    const forged = await post(`${SESSION}/events`, { author: 'agent', actions: { escalate: true } });
    expect(forged.text).not.toContain('To allow');
  });
});
