import { once } from 'node:events';
import { type NetConnectOpts, type Socket, connect } from 'node:net';
import { GraphQLModule } from '@nestjs/graphql';
import { type ClientOptions, WebSocket, type WebSocketServer } from 'ws';
import { subscriptionServerOf } from '../../src/sessions/graphql/connections/web-socket-server.js';
import type { GraphqlLimits } from '../../src/sessions/graphql/index.js';
import { until } from '../support/until.js';
import { GraphqlApp } from './graphql-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };
const INIT = '{"type":"connection_init"}';

interface Refusal {
  readonly status: number;
  readonly type: string | undefined;
  readonly problem: Record<string, unknown>;
}

describe('connections of subscriptions', () => {
  let app: GraphqlApp;
  const open = new Set<WebSocket>();

  async function start(limits: Partial<GraphqlLimits>, addressOf?: () => string): Promise<void> {
    app = await GraphqlApp.start({ server: { limits, addressOf } });
    await app.sessions.createSession(KEY);
  }

  afterEach(async () => {
    for (const socket of open) socket.terminate();
    open.clear();
    await app.close();
  });

  async function opened(options: ClientOptions = {}): Promise<WebSocket> {
    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', options);
    open.add(socket);
    await once(socket, 'open');
    return socket;
  }

  async function accepted(options: ClientOptions = {}): Promise<WebSocket> {
    const socket = await opened(options);
    socket.send(INIT);
    await once(socket, 'message');
    return socket;
  }

  async function refusal(): Promise<Refusal> {
    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws');
    socket.on('error', () => undefined);
    const [, response] = await once(socket, 'unexpected-response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const problem = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
    return { status: response.statusCode, type: response.headers['content-type'], problem };
  }

  it('are closed after a message that is too long', async () => {
    await start({ maxMessageBytes: 10_000 });
    const socket = await accepted();
    socket.send('x'.repeat(10_001));
    expect((await endOf(socket)).code).toBe(1009);
  });

  it.each([
    ['in one message', 1],
    ['in many messages', 50],
  ])('are closed if too much is sent before they are accepted, %s', async (_how, pieces) => {
    await start({ maxHandshakeBytes: 100_000 });
    const socket = await opened();
    // Pings are answered before a connection is accepted.
    const payload = { text: 'x'.repeat(1_000_000 / pieces) };
    for (let piece = 0; piece < pieces; piece++) socket.send(JSON.stringify({ type: 'ping', payload }));
    expect(await endOf(socket)).toEqual({
      code: 1009,
      reason: expect.stringContaining('before the connection was accepted'),
    });
  });

  it('accept long messages after they are accepted', async () => {
    await start({ maxHandshakeBytes: 1_000 });
    const socket = await accepted();
    socket.send(JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(1_000_000) } }));
    const [answer] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(answer.toString())).toMatchObject({ type: 'pong' });
  });

  it('are not read further while their client does not read the answers, and then go on', async () => {
    const [count, bytes] = [40, 1_000_000];
    await start({});
    let raw: Socket | undefined;
    const socket = await accepted({ createConnection: (to) => (raw = connect(to as NetConnectOpts)) });
    const server = subscriptionServerOf(app.get(GraphQLModule).graphQlAdapter)?.server as WebSocketServer | undefined;
    const [served] = server?.clients ?? [];
    raw?.pause();
    for (let ping = 0; ping < count; ping++) {
      socket.send(JSON.stringify({ type: 'ping', payload: { ping, text: 'x'.repeat(bytes) } }));
    }
    await until(() => served?.isPaused === true);
    expect(served?.bufferedAmount).toBeLessThan(4 * bytes);
    const pongs: unknown[] = [];
    socket.on('message', (data: Buffer) =>
      pongs.push((JSON.parse(data.toString()) as { payload: { ping: number } }).payload.ping),
    );
    raw?.resume();
    await until(() => pongs.length === count);
    expect(pongs).toEqual(Array.from({ length: count }, (_, index) => index));
  });

  it('are closed without a connection_init', async () => {
    await start({ handshakeSeconds: 0.1 });
    expect(await endOf(await opened())).toEqual({ code: 4408, reason: 'Connection initialisation timeout' });
  });

  it('do not wait for a client that never confirms a close', async () => {
    await start({ handshakeSeconds: 0.1 });
    let raw: Socket | undefined;
    await opened({ createConnection: (to) => (raw = connect(to as NetConnectOpts)) });
    raw?.pause();
    await until(async () => (await app.connections()) === 0);
    // `ws` alone waits 30 seconds.
  }, 25_000);

  it('are limited in number', async () => {
    await start({ maxConnections: 2 });
    const [first] = [await accepted(), await opened()];
    expect(await refusal()).toEqual({
      status: 503,
      type: 'application/problem+json; charset=utf-8',
      problem: {
        type: 'about:blank',
        title: 'Service Unavailable',
        status: 503,
        code: 'LIMIT_EXCEEDED',
        detail: 'There are 2 connections already. Try again later.',
      },
    });
    first?.close();
    await until(async () => (await app.connections()) === 1);
    await accepted();
  });

  it('are limited in number per address', async () => {
    let address = 'a';
    await start({ maxConnectionsPerAddress: 1 }, () => address);
    await accepted();
    expect(await refusal()).toMatchObject({ status: 429, problem: { code: 'TOO_MANY_REQUESTS' } });
    address = 'b';
    await accepted();
  });

  it('are closed if the client does not read, and a subscription can resume', async () => {
    await start({ stallSeconds: 0.4 });
    const content = { role: 'user', parts: [{ text: 'x'.repeat(500_000) }] };
    for (let number = 0; number < 40; number++) {
      await app.sessions.appendEvent({ session: SESSION, event: { author: 'user', content } });
    }
    let raw: Socket | undefined;
    const socket = await accepted({ createConnection: (to) => (raw = connect(to as NetConnectOpts)) });
    const read = seqsOf(socket);
    raw?.pause();
    subscribe(socket, 0);
    // The client sends pongs without reading.
    const pongs = setInterval(() => socket.pong(), 20);
    await until(async () => (await app.connections()) === 0);
    clearInterval(pongs);
    const ended = endOf(socket);
    raw?.resume();
    await ended;
    expect(read.length).toBeLessThan(40);
    const next = await accepted();
    const rest = seqsOf(next);
    subscribe(next, read.length);
    await until(() => read.length + rest.length === 40);
    expect([...read, ...rest]).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  });
});

async function endOf(socket: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
  return { code, reason: reason.toString() };
}

function subscribe(socket: WebSocket, afterSeq: number): void {
  const query = `subscription { eventAppended(appName: "shop", userId: "ann", sessionId: "s", afterSeq: ${afterSeq}) { seq body } }`;
  socket.send(JSON.stringify({ id: 'one', type: 'subscribe', payload: { query } }));
}

/** Collects the numbers of the events that are read. */
function seqsOf(socket: WebSocket): number[] {
  const seqs: number[] = [];
  socket.on('message', (data: Buffer) => {
    const { payload } = JSON.parse(data.toString()) as { payload?: { data: { eventAppended: { seq: number } } } };
    if (payload) seqs.push(payload.data.eventAppended.seq);
  });
  return seqs;
}
