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

describe('graceful shutdown', () => {
  let app: RunningApp;
  afterEach(() => app.remove());

  const start = async (settings: Record<string, string> = {}): Promise<void> => {
    app = await RunningApp.start({ REQUEST_LOG: 'false', ...settings });
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(app.url + SESSION, { method: 'POST', headers })).status).toBe(201);
  };

  /** An append whose headers the app has read, but whose body is still to come. */
  const startAppend = async (): Promise<ClientRequest> => {
    const append = request(`${app.url}${SESSION}/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': EVENT.length, expect: '100-continue' },
    });
    append.on('error', () => undefined);
    append.flushHeaders();
    await once(append, 'continue');
    return append;
  };

  const isRefused = (): Promise<boolean> =>
    fetch(`${app.url}/health/live`).then(
      () => false,
      () => true,
    );

  it('keeps every acknowledged append, leaves no request unfinished, and ends live streams', async () => {
    await start();
    const stream = await fetch(`${app.url}${SESSION}/events/stream?afterSeq=0`);
    const streamed = stream.text();
    const graphql = `${app.url}/graphql`;
    // Loads GraphQL, which may take longer than all the writes.
    await fetch(graphql);
    const live = new LiveWatch({ url: graphql.replace('http', 'ws'), variables: { ...KEY, afterSeq: 0 } });
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

  it('answers a started request after the port is closed', async () => {
    await start();
    const append = await startAppend();
    app.process.kill('SIGTERM');
    while (!(await isRefused())) await delay(5);
    append.end(EVENT);
    const [response] = (await once(append, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(201);
    expect(response.headers.connection).toBe('close');
    response.resume();
    expect(await app.ended()).toBe(0);
    expect(app.printed).toContain('[Shutdown] SIGTERM');
    // REQUEST_LOG is false.
    expect(app.printed).not.toContain('[Requests]');
  });

  it('first reports "not ready" while requests are still served', async () => {
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

  it('gives a requested summary time to finish, then fails the request', async () => {
    const model = createServer().listen(0, '127.0.0.1');
    await once(model, 'listening');
    await start({
      SUMMARIZER_MODEL_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
      SUMMARIZER_MODEL: 'a model that hangs',
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

  it('cuts off unfinished requests at its limit', async () => {
    await start({ SHUTDOWN_LIMIT_SECONDS: '0.3' });
    const unfinished = await startAppend();
    app.process.kill('SIGTERM');
    await new Promise((resolve) => unfinished.once('close', resolve));
    expect(await app.ended()).toBe(0);
    expect(app.printed).toContain('1 requests are cut off after 0.3 seconds.');
  });

  it('ends at once with a second signal, but ignores the repeated Ctrl-C of npm', async () => {
    await start({ SHUTDOWN_LIMIT_SECONDS: '600' });
    await startAppend();
    // Both signals are sent at once, as npm does. Two signals of the same kind would be merged by the system.
    app.process.kill('SIGINT');
    app.process.kill('SIGTERM');
    await app.prints(/: ending, with 1 requests under way/);
    await delay(600);
    expect(app.process.exitCode).toBeNull();
    app.process.kill('SIGINT');
    expect(await app.ended()).toBe(130);
  });
});
