import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { SessionsClient } from '../../src/client/index.js';
import { DatabaseSessionService } from '../../src/typeorm.js';
import { LiveWatch } from '../graphql/live-watch.js';
import { RunningApp } from './running-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = '/apps/shop/users/ann/sessions/s';
const WRITERS = 8;
const EVENT = JSON.stringify({ author: 'user' });

describe('the end of the app', () => {
  let app: RunningApp;
  afterEach(() => app.remove());

  const start = async (settings: Record<string, string> = {}): Promise<void> => {
    app = await RunningApp.start({ REQUEST_LOG: 'false', ...settings });
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(app.url + SESSION, { method: 'POST', headers })).status).toBe(201);
  };

  /** An append that the app has begun to read, and whose body is still to come. */
  const begunAppend = async (): Promise<ClientRequest> => {
    const begun = request(`${app.url}${SESSION}/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': EVENT.length, expect: '100-continue' },
    });
    begun.on('error', () => undefined);
    begun.flushHeaders();
    await once(begun, 'continue');
    return begun;
  };

  const isRefused = (): Promise<boolean> =>
    fetch(`${app.url}/health/live`).then(
      () => false,
      () => true,
    );

  it('keeps each append that was acknowledged, lets nobody hang, and ends live streams', async () => {
    await start();
    const stream = await fetch(`${app.url}${SESSION}/events/stream?afterSeq=0`);
    const streamed = stream.text();
    const socket = `${app.url.replace('http', 'ws')}/graphql`;
    const live = new LiveWatch({ url: socket, variables: { ...KEY, afterSeq: 0 } });
    const acknowledged: string[] = [];
    const write = async (writer: number): Promise<void> => {
      for (let turn = 0; ; turn++) {
        const body = JSON.stringify({ id: `${writer}-${turn}`, author: 'user' });
        const headers = { 'content-type': 'application/json' };
        const answer = fetch(`${app.url}${SESSION}/events`, { method: 'POST', headers, body });
        const { status } = await answer.catch(() => ({ status: 0 }));
        if (status !== 201) return expect(status).toBe(0);
        acknowledged.push(`${writer}-${turn}`);
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    while (acknowledged.length < 100) await delay(5);
    app.process.kill('SIGTERM');
    await Promise.all(writers);
    const text = await streamed;
    expect(text).not.toContain('event: problem');
    let seen = 0;
    while (!(await live.next().catch(() => ({ done: true }))).done) seen++;
    expect(seen).toBeGreaterThan(0);
    expect(await app.ended()).toBe(0);

    const after = new DatabaseSessionService({ database: app.database });
    const { events } = await after.listEvents({ ...KEY, limit: 1_000 });
    await after.close();
    const stored = events.map(({ id }) => id);
    expect(stored).toEqual(expect.arrayContaining(acknowledged));
    expect(events.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
  });

  it('answers what it began to read, when nobody else gets in any more', async () => {
    await start();
    const append = await begunAppend();
    app.process.kill('SIGTERM');
    while (!(await isRefused())) await delay(5);
    append.end(EVENT);
    const [response] = (await once(append, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(201);
    expect(response.headers.connection).toBe('close');
    response.resume();
    expect(await app.ended()).toBe(0);
  });

  it('is not ready first, for those who send it requests to hear of it, and goes on to serve', async () => {
    await start({ SHUTDOWN_DELAY_SECONDS: '5' });
    app.process.kill('SIGTERM');
    await app.prints(/SIGTERM/);
    const ready = await fetch(`${app.url}/health/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain('The app is closing.');
    expect((await fetch(`${app.url}/health/live`)).status).toBe(200);
    const client = new SessionsClient({ url: app.url, retries: 0 });
    expect(await client.appendEvent({ ...KEY, event: { author: 'user' } })).toMatchObject({ seq: 1 });
    expect(await app.ended()).toBe(0);
  });

  it('gives a summary that somebody asked for its time, and says that nothing came of it', async () => {
    const model = createServer().listen(0, '127.0.0.1');
    await once(model, 'listening');
    await start({
      SUMMARIZER_MODEL_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
      SUMMARIZER_MODEL: 'one that hangs',
      SUMMARIZER_KEEP_RECENT_EVENTS: '0',
      SUMMARIZER_SHUTDOWN_SECONDS: '0.3',
    });
    const client = new SessionsClient({ url: app.url });
    await client.appendEvent({ ...KEY, event: { author: 'agent', content: { parts: [{ text: 'Hello' }] } } });
    const summary = client.createSummary({ ...KEY, force: true }).catch((error: unknown) => error);
    await once(model, 'request');
    app.process.kill('SIGTERM');
    expect(await summary).toMatchObject({ status: 502, code: 'SUMMARY_FAILED' });
    expect(await app.ended()).toBe(0);
    model.closeAllConnections();
    model.close();
  });

  it('cuts off after its limit what does not come to an end', async () => {
    await start({ SHUTDOWN_LIMIT_SECONDS: '0.3' });
    const hanging = await begunAppend();
    app.process.kill('SIGTERM');
    await new Promise((resolve) => hanging.once('close', resolve));
    expect(await app.ended()).toBe(0);
    expect(app.printed).toContain('1 requests are cut off after 0.3 seconds.');
  });

  it('comes at once with a second signal, but not with the echo that npm makes of Ctrl-C', async () => {
    await start({ SHUTDOWN_LIMIT_SECONDS: '600' });
    await begunAppend();
    // At once, so that the second comes as soon as an echo does. The system would take two of the same kind for one.
    app.process.kill('SIGINT');
    app.process.kill('SIGTERM');
    await app.prints(/: ending, with 1 requests under way/);
    await delay(600);
    expect(app.process.exitCode).toBeNull();
    app.process.kill('SIGINT');
    expect(await app.ended()).toBe(130);
  });
});
