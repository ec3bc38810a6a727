import { once } from 'node:events';
import { WebSocket } from 'ws';
import { SessionsInspectorModule } from '../../src/inspector/index.js';
import { makeApiKey } from '../../src/sessions/auth/api-keys.js';
import { plant } from '../adapters/all/support/walk.js';
import { WalkApp } from '../adapters/all/support/walk-app.js';
import { SECRET } from '../adapters/all/support/walk-requests.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = '/apps/shop/users/ann/sessions/s';
const JSON_TYPE = { 'content-type': 'application/json' };
const { key, hash } = makeApiKey();

const cookieOf = (response: Response): string => response.headers.get('set-cookie') ?? '';

describe('The sign-in of the inspector', () => {
  let app: WalkApp;
  beforeAll(async () => {
    const apiKeys = [{ name: 'desk', hash, preset: 'service' }] as const;
    app = await WalkApp.start('Express', { imports: [SessionsInspectorModule.forRoot()] }, { auth: { apiKeys } });
    await plant(app);
  });
  afterAll(() => app.close());

  const signIn = (credential: unknown, headers: Record<string, string> = JSON_TYPE): Promise<Response> =>
    fetch(`${app.url}/inspector/sign-in`, { method: 'POST', headers, body: JSON.stringify({ credential }) });

  const statusFor = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(app.url + SESSION, { headers })).status;

  it('gives a cookie that no script and no other site can use', async () => {
    const response = await signIn(key);
    expect(response.status).toBe(204);
    const [cookie = '', ...attributes] = cookieOf(response).split('; ');
    expect(cookie).toBe(`__Host-agent-sessions=${key}`);
    expect(attributes).toEqual(['Path=/', 'Secure', 'HttpOnly', 'SameSite=Strict', 'Max-Age=28800']);
    const read = await fetch(app.url + SESSION, { headers: { cookie } });
    expect(await read.text()).toContain(SECRET);
  });

  it('gives none for what is not valid', async () => {
    for (const wrong of ['x', makeApiKey().key, '', 5, undefined, `${key}; Path=/x`]) {
      const response = await signIn(wrong);
      expect([response.status, cookieOf(response)]).toEqual([401, '']);
    }
  });

  it('is for the page itself: others sign nobody in', async () => {
    for (const headers of [
      { ...JSON_TYPE, origin: 'https://evil.example' },
      { ...JSON_TYPE, 'sec-fetch-site': 'same-site' },
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
    ]) {
      const response = await signIn(key, headers);
      expect([response.status, cookieOf(response)]).toEqual([403, '']);
    }
  });

  it.each([{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }])(
    'does not count for a page of another origin: %j',
    async (headers) => {
      const cookie = `__Host-agent-sessions=${key}`;
      const before = await app.everythingOf('ann');
      for (const method of ['GET', 'DELETE']) {
        const response = await fetch(app.url + SESSION, {
          method,
          headers: Object.entries({ cookie, ...headers }),
        });
        expect([response.status, (await response.text()).includes(SECRET)]).toEqual([401, false]);
      }
      expect(await app.everythingOf('ann')).toBe(before);
    },
  );

  it('counts once: two cookies of its name are none, and a header goes before it', async () => {
    const own = `__Host-agent-sessions=${key}`;
    expect(await statusFor({ cookie: `${own}; __Host-agent-sessions=x` })).toBe(401);
    expect(await statusFor({ cookie: own, authorization: 'Bearer wrong' })).toBe(401);
    expect(await statusFor({ cookie: `a=b; ${own}; c=d` })).toBe(200);
  });

  const tell = async (text: string): Promise<unknown> =>
    app.sessions.appendEvent({
      session: { ...KEY, id: 's' },
      event: { author: 'shop', content: { parts: [{ text }] } },
    });

  const openStream = async (headers: Record<string, string>): Promise<() => Promise<string>> => {
    const stream = await fetch(`${app.url + SESSION}/events/stream`, { headers });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    return async () => (await reader?.read())?.value ?? 'end';
  };

  const signOut = async (cookie: string): Promise<unknown> =>
    fetch(`${app.url}/inspector/sign-out`, { method: 'POST', headers: { ...JSON_TYPE, cookie } });

  it('ends the streams of other tabs when it signs out, and none by a header', async () => {
    const cookie = `__Host-agent-sessions=${key}`;
    const tab = await openStream({ cookie });
    const other = await openStream({ authorization: `Bearer ${key}` });
    await signOut('__Host-agent-sessions=x');
    await tell('first');
    expect([await tab(), await other()]).toEqual([expect.stringContaining('first'), expect.stringContaining('first')]);
    await signOut(cookie);
    expect(await tab()).toBe('end');
    await tell('second');
    expect(await other()).toContain('second');
  });

  it('closes the WebSockets of other tabs when it signs out', async () => {
    const cookie = `__Host-agent-sessions=${key}`;
    const headers = { cookie, origin: app.url };
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await once(socket, 'message');
    await signOut(cookie);
    expect((await once(socket, 'close'))[0]).toBe(4401);
  });

  it('is none where a guard of the app signs in', async () => {
    const other = await WalkApp.start('Express', { imports: [SessionsInspectorModule.forRoot()] });
    const body = JSON.stringify({ credential: key });
    const response = await fetch(`${other.url}/inspector/sign-in`, { method: 'POST', headers: JSON_TYPE, body });
    expect([response.status, cookieOf(response)]).toEqual([404, '']);
    await other.close();
  });
});
