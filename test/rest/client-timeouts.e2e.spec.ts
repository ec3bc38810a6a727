import { ProblemError, SessionsClient } from '../../src/client/index.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { RestApp } from './rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's1' };
const HELLO = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };

const OVER = { done: true, value: undefined };

interface Door {
  readonly client: SessionsClient;
  readonly count: () => number;
}

describe('the patience of the client', () => {
  let app: RestApp;

  beforeEach(async () => {
    app = await RestApp.start('Express');
  });

  afterEach(async () => {
    await app.close();
  });

  /** Over a door that turns the first requests away. */
  function turnedAway(times: number, retryAfter: string): Door {
    const problem = JSON.stringify({ detail: 'Too many requests.', code: 'TOO_MANY_REQUESTS' });
    return behind(times, () => new Response(problem, { status: 429, headers: { 'Retry-After': retryAfter } }));
  }

  /** Where something on the way answers the first requests. */
  function behind(times: number, answer: () => Response): Door {
    let asked = 0;
    const door: typeof fetch = async (input, init) => {
      asked += 1;
      return asked > times ? fetch(input, init) : answer();
    };
    return { client: new SessionsClient({ url: app.url, fetch: door }), count: () => asked };
  }

  it('asks again whom a server turned away, be it for a write that may happen once only', async () => {
    const { client, count } = turnedAway(2, '0');
    const owner = { appName: 'shop', userId: 'ann' };
    await client.createSession(owner);
    expect(count()).toBe(3);
    expect((await client.listSessions(owner)).sessions).toHaveLength(1);
  });

  it('waits as long as it is asked to, unless that is for long', async () => {
    const { client } = turnedAway(1, '1');
    const startedAt = performance.now();
    await client.createSession(KEY);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
    const hopeless = turnedAway(1, '3600');
    const refused = hopeless.client.getSession(KEY);
    await expect(refused).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS', retryAfterMs: 3_600_000 });
    expect(hopeless.count()).toBe(1);
  });

  it('goes on with a stream that was turned away', async () => {
    const { client, count } = turnedAway(2, '0');
    const quick = new SessionsClient({ url: app.url });
    await quick.createSession(KEY);
    await quick.appendEvent({ ...KEY, event: HELLO });
    const watch = client.watch({ ...KEY, afterSeq: 0 });
    expect((await watch.next()).value).toMatchObject({ seq: 1 });
    expect(count()).toBe(3);
    await watch.return?.();
  });

  it('ends a stream at once, however long it was asked to wait', async () => {
    const { client, count } = turnedAway(9, '3600');
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

  it('waits a minute at most for a stream, and never less than asked for because that is too much for a timer', async () => {
    const { client, count } = turnedAway(9, '9999999');
    const timer = jest.spyOn(globalThis, 'setTimeout');
    const watch = client.watch({ ...KEY, afterSeq: 0 });
    const next = watch.next();
    await until(() => count() === 1 && timer.mock.calls.some(([, delay = 0]) => delay >= 60_000));
    await watch.return?.();
    expect(await next).toEqual(OVER);
    expect(Math.max(...timer.mock.calls.map(([, delay = 0]) => delay))).toBeLessThan(66_000);
    timer.mockRestore();
  });

  it.each([502, 504])('asks again what a proxy answered with %i, if it may be asked twice', async (status) => {
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

  it.each(['<html>Sign in first</html>', ''])('takes a page for people, such as "%s", for no answer', async (page) => {
    await new SessionsClient({ url: app.url }).createSession(KEY);
    const answer = (): Response => new Response(page, { status: 200 });
    const once = behind(1, answer);
    expect(await once.client.append({ ...KEY, event: HELLO })).toMatchObject({ event: { seq: 1 } });
    const { client } = behind(9, answer);
    const refused = await client.createSession({ ...KEY, sessionId: 's2' }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ProblemError);
    expect(refused).toMatchObject({ status: 200, code: 'UNKNOWN', message: expect.not.stringContaining('Sign in') });
  });

  it('takes a connection over which nothing comes for a dead one, and makes another', async () => {
    const proxy = await TcpProxy.start({ host: '127.0.0.1', port: Number(new URL(app.url).port) });
    const distant = new SessionsClient({ url: `http://127.0.0.1:${proxy.port}` });
    const near = new SessionsClient({ url: app.url });
    await near.createSession(KEY);
    await near.appendEvent({ ...KEY, event: HELLO });
    const watch = distant.watch({ ...KEY, afterSeq: 0, idleTimeoutMs: 500 });
    expect((await watch.next()).value).toMatchObject({ seq: 1 });
    // The first connection stays, but nothing comes through it any more.
    proxy.judge = ({ connection }) => (connection > 1 ? 'pass' : 'swallow');
    await near.appendEvent({ ...KEY, event: HELLO });
    expect((await watch.next()).value).toMatchObject({ seq: 2 });
    await watch.return?.();
    await proxy.stop();
  });
});
