import { fillMemory } from '../support/filled-memory.js';
import { until } from '../support/until.js';
import { RestApp, frameworks } from './rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSIONS = '/apps/shop/users/ann/sessions';
const EVENT = { author: 'user', content: { parts: [{ text: 'hi' }] } };
const HI = { newMessage: EVENT.content, invocationId: 'i1' };

/** Writes that wait before they begin, so that a refused one can be sent again. */
const first = [
  { what: 'an event', path: `${SESSIONS}/s/events`, body: EVENT },
  { what: 'a batch', path: `${SESSIONS}/s/events/batch`, body: { events: [EVENT] } },
  { what: 'a change of state', method: 'PATCH', path: `${SESSIONS}/s/state`, body: { stateDelta: { a: 1 } } },
  { what: 'a new session', path: SESSIONS, body: {} },
  { what: 'a new session with its id', path: `${SESSIONS}/new`, body: {} },
];

/** Work that does not wait: nobody knows how long it takes, and how much it writes. */
const work = [
  { what: 'a run', path: `${SESSIONS}/s/run`, body: HI },
  { what: 'a run as in ADK', path: '/run', body: { ...KEY, ...HI } },
];

describe.each(frameworks)('Answers of writes on %s', (framework) => {
  let app: RestApp;

  beforeEach(async () => {
    app = await RestApp.start(framework, { agents: true });
    await app.sessions.createSession(KEY);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await app.close();
  });

  async function everything(): Promise<unknown> {
    const { sessions } = await app.sessions.listSessions({ appName: 'shop', userId: 'ann' });
    return sessions.map(({ id, version }) => [id, version]);
  }

  it.each(first)('wait for memory before they are stored: $what', async ({ method = 'POST', path, body }) => {
    const { giveBack, asked } = await fillMemory();
    const before = await everything();
    const answer = app.request(method, path, body);
    await until(() => asked.mock.calls.length === 1);
    expect(await everything()).toEqual(before);
    giveBack();
    expect((await answer).status).toBeLessThan(300);
    expect(await everything()).not.toEqual(before);
  });

  it.each(work)('wait for memory when they are known: $what', async ({ path, body }) => {
    const { giveBack, asked } = await fillMemory();
    let isAnswered = false;
    const answer = app.request('POST', path, body).finally(() => (isAnswered = true));
    await until(() => asked.mock.calls.length === 1);
    const { events } = await app.sessions.listEvents(KEY);
    expect(events.map(({ author }) => author)).toEqual(['user', 'shop']);
    expect(isAnswered).toBe(false);
    giveBack();
    const { status, text } = await answer;
    expect([status, asked.mock.calls[0]?.[0].bytes]).toEqual([200, text.length]);
  });

  it('wait for memory when they are known: an answer to an approval', async () => {
    await app.request('POST', `${SESSIONS}/s/run`, { newMessage: { parts: [{ text: 'refund' }] }, invocationId: 'i1' });
    const { giveBack, asked } = await fillMemory();
    const answer = app.request('POST', `${SESSIONS}/s/approvals/c1@i1`, { confirmed: true });
    await until(() => asked.mock.calls.length === 1);
    const agents = await app.sessions.listEvents({ ...KEY, order: 'desc', limit: 1 });
    expect(JSON.stringify(agents.events)).toContain('echo: ');
    giveBack();
    expect((await answer).status).toBe(200);
  });

  it('reserve as much as their body has', async () => {
    const { giveBack, asked } = await fillMemory();
    giveBack();
    const event = { author: 'user', content: { parts: [{ text: 'x'.repeat(100_000) }] } };
    await app.request('POST', `${SESSIONS}/s/events`, event);
    expect(asked.mock.calls.map(([{ bytes }]) => bytes)).toEqual([JSON.stringify(event).length]);
  });
});
