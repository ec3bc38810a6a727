import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, createServer, request } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { OpenRequests } from '../../src/app/graceful-shutdown.js';
import { SessionsClient } from '../../src/client/index.js';
import { DatabaseSessionService } from '../../src/typeorm.js';
import { LiveWatch } from '../graphql/live-watch.js';
import { RunningApp } from './running-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = '/apps/shop/users/ann/sessions/s';
const WRITERS = 8;
/** The frame of a server that goes away: a close with the code 1001. */
const GOING_AWAY = Buffer.from([0x88, 12, 1001 >> 8, 1001 & 0xff, ...Buffer.from('Going away')]);
const UPGRADE = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  'sec-websocket-protocol': 'graphql-transport-ws',
};
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

  it('does not wait for a WebSocket whose client never speaks, not even to confirm the close', async () => {
    await start({ SHUTDOWN_LIMIT_SECONDS: '10' });
    const socket = await upgraded(`${app.url}/graphql`);
    app.process.kill('SIGTERM');
    const [frame] = (await once(socket, 'data')) as [Buffer];
    expect(frame).toEqual(GOING_AWAY);
    expect(await app.ended()).toBe(0);
    expect(app.printed).not.toContain('are cut off');
  });

  it('does not wait for the first request of a connection', async () => {
    await start({ SHUTDOWN_LIMIT_SECONDS: '10' });
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    // The app accepts connections in their order.
    await fetch(`${app.url}/health/live`);
    app.process.kill('SIGTERM');
    expect(await app.ended()).toBe(0);
    expect(app.printed).not.toContain('are cut off');
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

it('The limit of the shutdown cuts off upgraded connections too', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  const requests = new OpenRequests(server);
  server.on('upgrade', (_request, socket: Socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
  });
  await once(server, 'listening');
  await upgraded(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await requests.finish();
  const closed = once(server, 'close');
  requests.cutOff();
  await closed;
});

/** A connection whose client sends no more, whatever comes. */
async function upgraded(url: string): Promise<Socket> {
  const [, socket] = (await once(request(url, { headers: UPGRADE }).end(), 'upgrade')) as [IncomingMessage, Socket];
  socket.on('error', () => undefined);
  return socket;
}
