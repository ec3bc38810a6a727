import { ProblemError, SessionsClient } from '../../src/client/index.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { RestApp } from './rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's1' };
const HELLO = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };

const OVER = { done: true, value: undefined };

interface LimitedClient {
  readonly client: SessionsClient;
  readonly count: () => number;
}

describe('retries and timeouts of the client', () => {
  let app: RestApp;

  beforeEach(async () => {
    app = await RestApp.start('Express');
  });

  afterEach(async () => {
    await app.close();
  });

  /** A client whose first requests get 429. */
  function rateLimited(times: number, retryAfter: string): LimitedClient {
    const problem = JSON.stringify({ detail: 'Too many requests.', code: 'TOO_MANY_REQUESTS' });
    return behind(times, () => new Response(problem, { status: 429, headers: { 'Retry-After': retryAfter } }));
  }

  /** A client whose first requests get this response instead of the server's. */
  function behind(times: number, answer: () => Response): LimitedClient {
    let asked = 0;
    const limitedFetch: typeof fetch = async (input, init) => {
      asked += 1;
      return asked > times ? fetch(input, init) : answer();
    };
    return { client: new SessionsClient({ url: app.url, fetch: limitedFetch }), count: () => asked };
  }

  it('retries after 429, even a write that is not idempotent', async () => {
    const { client, count } = rateLimited(2, '0');
    const owner = { appName: 'shop', userId: 'ann' };
    await client.createSession(owner);
    expect(count()).toBe(3);
    expect((await client.listSessions(owner)).sessions).toHaveLength(1);
  });

  it('waits as long as Retry-After says, up to a limit', async () => {
    const { client } = rateLimited(1, '1');
    const startedAt = performance.now();
    await client.createSession(KEY);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
    const hopeless = rateLimited(1, '3600');
    const refused = hopeless.client.getSession(KEY);
    await expect(refused).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS', retryAfterMs: 3_600_000 });
    expect(hopeless.count()).toBe(1);
  });

  it('reconnects a stream after 429', async () => {
    const { client, count } = rateLimited(2, '0');
    const quick = new SessionsClient({ url: app.url });
    await quick.createSession(KEY);
    await quick.appendEvent({ ...KEY, event: HELLO });
    const watch = client.watch({ ...KEY, afterSeq: 0 });
    expect((await watch.next()).value).toMatchObject({ seq: 1 });
    expect(count()).toBe(3);
    await watch.return?.();
  });

  it('ends a stream immediately, also during a long Retry-After', async () => {
    const { client, count } = rateLimited(9, '3600');
    const ended = new AbortController();
    const watches = [
      client.watch({ ...KEY, afterSeq: 0 }),
      client.watch({ ...KEY, signal: ended.signal, afterSeq: 0 }),
    ];
    const nexts = watches.map((watch) => watch.next());
    await until(() => count() === 2);
    await watches[0]?.return?.();
    ended.abort();
    expect(await Promise.all(nexts)).toEqual([OVER, OVER]);
    expect(count()).toBe(2);
  });

  it('waits at most a minute before it reconnects, also if Retry-After exceeds the range of timers', async () => {
    const { client, count } = rateLimited(9, '9999999');
    const timer = jest.spyOn(globalThis, 'setTimeout');
    const watch = client.watch({ ...KEY, afterSeq: 0 });
    const next = watch.next();
    await until(() => count() === 1 && timer.mock.calls.some(([, delay = 0]) => delay >= 60_000));
    await watch.return?.();
    expect(await next).toEqual(OVER);
    expect(Math.max(...timer.mock.calls.map(([, delay = 0]) => delay))).toBeLessThan(66_000);
    timer.mockRestore();
  });

  it.each([502, 504])('retries idempotent requests after a %i of a proxy', async (status) => {
    const page = (): Response => new Response('<html>Bad Gateway</html>', { status });
    await new SessionsClient({ url: app.url }).createSession(KEY);
    const reading = behind(2, page);
    expect(await reading.client.getSession(KEY)).toMatchObject({ version: 0 });
    const writing = behind(1, page);
    expect(await writing.client.append({ ...KEY, event: HELLO })).toMatchObject({
      event: { seq: 1 },
      duplicate: false,
    });
    const creating = behind(1, page);
    await expect(creating.client.createSession({ ...KEY, sessionId: 's2' })).rejects.toMatchObject({ status });
    expect(creating.count()).toBe(1);
  });

  it.each(['<html>Sign in first</html>', ''])(
    'treats a 2xx response with the body "%s" as a proxy error',
    async (page) => {
      await new SessionsClient({ url: app.url }).createSession(KEY);
      const answer = (): Response => new Response(page, { status: 200 });
      const once = behind(1, answer);
      expect(await once.client.append({ ...KEY, event: HELLO })).toMatchObject({ event: { seq: 1 } });
      const { client } = behind(9, answer);
      const refused = await client.createSession({ ...KEY, sessionId: 's2' }).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(ProblemError);
      expect(refused).toMatchObject({ status: 200, code: 'UNKNOWN', message: expect.not.stringContaining('Sign in') });
    },
  );

  it('reconnects when nothing arrives within the idle timeout', async () => {
    const proxy = await TcpProxy.start({ host: '127.0.0.1', port: Number(new URL(app.url).port) });
    const distant = new SessionsClient({ url: `http://127.0.0.1:${proxy.port}` });
    const near = new SessionsClient({ url: app.url });
    await near.createSession(KEY);
    await near.appendEvent({ ...KEY, event: HELLO });
    const watch = distant.watch({ ...KEY, afterSeq: 0, idleTimeoutMs: 500 });
    expect((await watch.next()).value).toMatchObject({ seq: 1 });
    // The first connection stays open, but delivers nothing any more.
    proxy.filter = ({ connection }) => (connection > 1 ? 'pass' : 'drop');
    await near.appendEvent({ ...KEY, event: HELLO });
    expect((await watch.next()).value).toMatchObject({ seq: 2 });
    await watch.return?.();
    await proxy.stop();
  });
});
