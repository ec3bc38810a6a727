import { type Socket, connect } from 'node:net';
import { once } from 'node:events';
import { RunningApp } from '../app/running-app.js';

const PATH = '/apps/shop/users/ann/sessions';
const EVENTS = 12;
/** Together they ask for far more than the heap of the app can hold. */
const SOCKETS = 12;
/** The text of a message: 1 MB. */
const TEXT = 'x'.repeat(1_000_000);
const WATCH =
  'subscription { eventAppended(appName: "shop", userId: "ann", sessionId: "s", afterSeq: 0) { seq body } }';
const READ = '{ events(appName: "shop", userId: "ann", sessionId: "s", first: 100) { nodes { body } } }';
const SETTINGS = {
  NODE_OPTIONS: '--max-old-space-size=192',
  SESSIONS_PROVIDER: 'memory',
  THROTTLE_LIMIT: '0',
  REQUEST_LOG: 'false',
};

describe('streams and responses that are not read', () => {
  let app: RunningApp;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    app = await RunningApp.start(SETTINGS);
    await post(PATH, { sessionId: 's' });
    for (let number = 0; number < EVENTS; number++) {
      await post(`${PATH}/s/events`, { author: 'agent', content: { role: 'model', parts: [{ text: TEXT }] } });
    }
  });

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  });

  afterAll(() => app.remove());

  it.each([
    ['subscriptions', WATCH, 5],
    ['queries', READ, 20],
  ])('use limited memory: %s', async (_what, query, perSocket) => {
    for (let number = 0; number < SOCKETS; number++) await unreadSocket(query, perSocket);
    const response = await fetch(`${app.url}${PATH}/s/events/stream?afterSeq=${EVENTS - 2}`);
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += (chunk as Uint8Array).length;
      if (bytes > 2 * TEXT.length) break;
    }
    expect(bytes).toBeGreaterThan(2 * TEXT.length);
    expect(app.process.exitCode ?? app.process.signalCode).toBeNull();
  });

  async function post(path: string, body: unknown): Promise<void> {
    const response = await fetch(app.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(201);
  }

  /** A WebSocket that stops reading after it was accepted. */
  async function unreadSocket(query: string, count: number): Promise<void> {
    const { host, port } = new URL(app.url);
    const socket = connect(Number(port), '127.0.0.1');
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.write(
      `GET /graphql HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
    );
    await once(socket, 'data');
    socket.write(frame({ type: 'connection_init' }));
    await once(socket, 'data');
    socket.pause();
    for (let id = 0; id < count; id++) socket.write(frame({ id: String(id), type: 'subscribe', payload: { query } }));
  }
});

/** A frame of a client, with a mask of zeros. */
function frame(message: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const length = text.length < 126 ? [0x80 | text.length] : [0x80 | 126, text.length >> 8, text.length & 255];
  return Buffer.concat([Buffer.from([0x81, ...length]), Buffer.alloc(4), text]);
}
