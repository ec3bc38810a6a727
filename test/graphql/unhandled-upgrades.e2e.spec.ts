import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { RunningApp } from '../app/running-app.js';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

describe('an upgrade to a protocol that its path does not support', () => {
  let app: RunningApp;

  beforeAll(async () => {
    app = await RunningApp.start({ SESSIONS_PROVIDER: 'memory', REQUEST_LOG: 'true' });
  });
  afterAll(() => app.remove());

  async function ask(path: string, protocol: string): Promise<Socket> {
    const { port } = new URL(app.url);
    const socket = connect(Number(port), 'localhost').on('error', () => undefined);
    const headers = ['Host: localhost', 'Connection: Upgrade', `Upgrade: ${protocol}`, `Sec-WebSocket-Key: ${KEY}`];
    socket.write(`GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\nSec-WebSocket-Version: 13\r\n\r\n`);
    await once(socket, 'connect');
    return socket;
  }

  it('is refused and does not hang', async () => {
    const [head, body = ''] = (await text(await ask('/health', 'websocket'))).split('\r\n\r\n');
    expect(head).toContain('application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ status: 400, code: 'INVALID_INPUT' });
    await app.prints(/ GET .* 400 /);
  });

  it('is ignored if a server may do so, as with that of clients of HTTP/2', async () => {
    const socket = await ask('/health/live', 'h2c');
    const [answer] = (await once(socket.setEncoding('utf8'), 'data')) as [string];
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    socket.destroy();
  });

  it('does not end the process if its connection breaks', async () => {
    const answered = await fetch(`${app.url}/health/live`);
    expect(answered.status).toBe(200);
    const socket = await ask('/health', 'websocket');
    // The response to a later request proves that the connection was accepted.
    await fetch(`${app.url}/health/live`);
    socket.resetAndDestroy();
    // 400 where the app refused the connection before it broke.
    await app.prints(/ GET .* (?:101|400) /);
    expect((await fetch(`${app.url}/health/live`)).status).toBe(200);
  });
});
