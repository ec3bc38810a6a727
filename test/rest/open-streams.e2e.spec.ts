import { SessionAccess, type StreamLimits } from '../../src/sessions/rest/index.js';
import { until } from '../support/until.js';
import { RestApp, frameworks } from './rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = '/apps/shop/users/ann/sessions/s';
const STREAM = `${SESSION}/events/stream`;

/** The user is whoever the header names. */
class ByHeader extends SessionAccess {
  override readonly acceptsAnonymous = true;

  override userOf({ headers }: { readonly headers: Readonly<Record<string, string | undefined>> }): unknown {
    return headers['x-user'] === undefined ? undefined : { id: headers['x-user'] };
  }

  allows(): boolean {
    return true;
  }

  override allowsWrite(): boolean {
    return true;
  }
}

describe.each(frameworks)('streams that one client has open on %s', (framework) => {
  let app: RestApp;
  const open: AbortController[] = [];

  afterEach(async () => {
    for (const opened of open.splice(0)) opened.abort();
    await app.close();
  });

  async function start(streams: StreamLimits): Promise<void> {
    app = await RestApp.start(framework, { access: ByHeader, streams, agents: true });
    await app.sessions.createSession(KEY);
  }

  async function stream(headers: Record<string, string> = {}, path = STREAM, body?: unknown): Promise<Response> {
    const leaving = new AbortController();
    open.push(leaving);
    return fetch(app.url + path, {
      signal: leaving.signal,
      headers: { connection: 'close', 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
  }

  it('are limited per address, until one is closed', async () => {
    await start({ maxStreamsPerClient: 2 });
    expect((await stream()).status).toBe(200);
    expect((await stream()).status).toBe(200);
    const refused = await stream();
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({
      status: 429,
      code: 'TOO_MANY_REQUESTS',
      detail: 'You have 2 streams open already (streams.maxStreamsPerClient). Close one first.',
    });
    expect((await app.request('GET', SESSION)).status).toBe(200);
    open.shift()?.abort();
    await until(async () => (await stream()).status === 200);
  });

  it('are limited per signed-in user', async () => {
    await start({ maxStreamsPerClient: 1 });
    for (const user of ['ann', 'bob']) expect((await stream({ 'x-user': user })).status).toBe(200);
    expect((await stream({ 'x-user': 'bob' })).status).toBe(429);
    expect((await stream()).status).toBe(200);
  });

  it('are limited per address behind as many proxies as are trusted', async () => {
    await start({ maxStreamsPerClient: 1, trustedProxies: 1 });
    expect((await stream({ 'x-forwarded-for': '10.0.0.1' })).status).toBe(200);
    expect((await stream({ 'x-forwarded-for': '10.0.0.2' })).status).toBe(200);
    expect((await stream({ 'x-forwarded-for': '10.0.0.9, 10.0.0.2' })).status).toBe(429);
  });

  it('include those of runs, which are refused before the agent is asked', async () => {
    await start({ maxStreamsPerClient: 1 });
    const newMessage = { role: 'user', parts: [{ text: 'wait' }] };
    expect((await stream()).status).toBe(200);
    expect((await stream({}, `${SESSION}/run_sse`, { newMessage })).status).toBe(429);
    expect((await stream({}, '/run_sse', { ...KEY, newMessage })).status).toBe(429);
    expect((await app.sessions.listEvents(KEY)).events).toEqual([]);
  });

  it('have no limit with 0', async () => {
    await start({ maxStreamsPerClient: 0 });
    const answers = await Promise.all(Array.from({ length: 5 }, () => stream()));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });
});
