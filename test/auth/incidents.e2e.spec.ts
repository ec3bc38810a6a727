import { Issuer, bearer } from './issuer.js';
import { askApproval, plant } from '../adapters/all/support/walk.js';
import { WalkApp } from '../adapters/all/support/walk-app.js';
import { SECRET } from '../adapters/all/support/walk-requests.js';

const SESSION = '/apps/shop/users/ann/sessions/s';
const TEXT = { newMessage: { parts: [{ text: 'hi' }] } };

/** What other agent servers let a stranger do in 2026 who knew the id of a session. Here the stranger is signed in. */
describe('A signed-in stranger who knows the id of a session', () => {
  let app: WalkApp;
  let issuer: Issuer;
  let stranger: Record<string, string>;
  let owner: Record<string, string>;
  let before: string;

  beforeAll(async () => {
    issuer = await Issuer.start();
    app = await WalkApp.start('Express', {}, { auth: { jwt: issuer.options } });
    stranger = { ...bearer(await issuer.token('bob')), 'x-user': 'ann' };
    owner = { ...bearer(await issuer.token('ann')), 'x-user': 'ann' };
    await plant(app);
    await askApproval(app, 's', owner);
    before = await app.everythingOf('ann');
  });
  afterAll(() => Promise.all([app.close(), issuer.close()]));

  it.each<[string, ...(readonly [method: string, path: string, body?: object])[]]>([
    ['reads no history', ['GET', SESSION], ['GET', `${SESSION}/events`], ['GET', `/adk${SESSION}`], ['GET', '/chat/s']],
    ['attaches to no stream', ['GET', `${SESSION}/events/stream?afterSeq=0`], ['GET', '/chat/s/stream']],
    [
      'attaches to no text that is still written',
      ['GET', `${SESSION}/events/stream?afterSeq=0&partials=true`],
      [
        'POST',
        `${SESSION}/ag-ui/connect`,
        { threadId: 's', runId: 'r', messages: [], tools: [], context: [], state: {} },
      ],
    ],
    ['stops no run', ['POST', `${SESSION}/stop`], ['POST', '/chat/s/stop']],
    ['forks no session', ['POST', `${SESSION}/fork`, { sessionId: 'mine' }], ['POST', '/chat/s/fork']],
    [
      'exports nothing',
      ['GET', `${SESSION}/events?limit=1000`],
      ['GET', '/apps/shop/users/ann/sessions?limit=100'],
      ['GET', '/apps/shop/sessions'],
    ],
    [
      'goes on with no conversation by a thread id in the body',
      ['POST', `${SESSION}/run`, TEXT],
      ['POST', '/adk/run', { appName: 'shop', userId: 'ann', sessionId: 's', ...TEXT }],
      ['POST', '/adk/run_sse', { appName: 'shop', userId: 'ann', sessionId: 's', ...TEXT }],
      ['POST', '/chat', { id: 's', message: { id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] } }],
    ],
    ['answers no approval', ['POST', `${SESSION}/approvals/c1@i1`, { approved: true }]],
    [
      'deletes and rewinds nothing',
      ['DELETE', SESSION],
      ['POST', `${SESSION}/rewind`, { invocationId: 'i1' }],
      ['PATCH', `${SESSION}/state`, { stateDelta: { x: 1 } }],
    ],
  ])('%s', async (_what, ...asked) => {
    for (const [method, path, body = {}] of asked) {
      const answer = await app.send(method, path, body, stranger);
      expect([path, answer.text.includes(SECRET), answer.isStream]).toEqual([path, false, false]);
      // A deletion looks done, like that of a session that is missing.
      expect([path, method === 'DELETE' ? [204] : [401, 403, 404]]).toEqual([
        path,
        expect.arrayContaining([answer.status]),
      ]);
    }
    expect(await app.everythingOf('ann')).toBe(before);
  });

  it('is told of a session that is not theirs what is told of one that is missing', async () => {
    for (const path of [SESSION, `${SESSION}/events`, `${SESSION}/events/stream`]) {
      const [hidden, missing] = [path, path.replace('sessions/s', 'sessions/none')].map((each) =>
        app.send('GET', each, {}, stranger),
      );
      expect((await hidden)?.text.replaceAll('\\"s\\"', '')).toBe((await missing)?.text.replaceAll('\\"none\\"', ''));
    }
  });

  it('is no owner: she reaches all of that by the same requests', async () => {
    expect((await app.send('GET', SESSION, {}, owner)).text).toContain(SECRET);
    expect((await app.send('GET', `${SESSION}/events/stream?afterSeq=0`, {}, owner)).isStream).toBe(true);
    expect((await app.send('GET', '/chat/s', {}, owner)).text).toContain(SECRET);
    expect((await app.send('POST', `${SESSION}/run`, TEXT, owner)).status).toBe(200);
  });
});
