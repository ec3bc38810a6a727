import { once } from 'node:events';
import { Agent, type IncomingMessage, type RequestListener, type Server, createServer, request } from 'node:http';
import { Agent as TlsAgent, createServer as createTlsServer, request as requestOverTls } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { json, text } from 'node:stream/consumers';
import { ignoreOptionalUpgrades } from '../../src/sessions/transport/optional-upgrades.js';
import { Certificates } from '../tls/certificates.js';

/** As Java's client sends them with each request over plain HTTP. */
const OFFER = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAAAAIAAAAB' };

const echo: RequestListener = (asked, response) => {
  const { method, url, headers } = asked;
  void text(asked).then((body) => response.end(JSON.stringify({ method, url, headers, body })));
};

describe.each(['http', 'https'])('a request over %s that offers another protocol', (scheme) => {
  let certificates: Certificates;
  let server: Server;
  let agent: Agent;
  const upgrades = jest.fn((_asked: IncomingMessage, socket: Socket) => socket.end('HTTP/1.1 400 Refused\r\n\r\n'));

  beforeAll(async () => {
    certificates = await Certificates.create();
    const [key, cert] = [await certificates.text('server.key'), await certificates.text('server.pem')];
    server = scheme === 'http' ? createServer(echo) : createTlsServer({ key, cert }, echo);
    server.on('upgrade', upgrades);
    ignoreOptionalUpgrades(server);
    const options = { keepAlive: true, maxSockets: 1 };
    agent =
      scheme === 'http' ? new Agent(options) : new TlsAgent({ ...options, ca: await certificates.text('ca.pem') });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(async () => {
    agent.destroy();
    server.close();
    await certificates.remove();
  });

  async function send(method: string, headers: Record<string, string>, body = ''): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo;
    const ask = scheme === 'http' ? request : requestOverTls;
    const sent = ask(`${scheme}://127.0.0.1:${port}/a?b=%20`, { method, agent, headers }).end(Buffer.from(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  }

  it('is served as if it did not, with its body and its other headers, each time on the same connection', async () => {
    const warned = jest.fn();
    process.on('warning', warned);
    const connections = new Set<Socket>();
    server.on('request', (asked) => connections.add(asked.socket));
    const large = 'ä'.repeat(200_000);
    for (const [method, body] of [...Array.from({ length: 12 }, () => ['GET', '']), ['POST', large], ['PUT', 'x']]) {
      const answer = await json(await send(method ?? '', { ...OFFER, 'x-name': 'é' }, body));
      expect(answer).toMatchObject({ method, url: '/a?b=%20', body });
      expect(answer).toHaveProperty('headers.x-name', 'é');
      expect(Object.keys((answer as { headers: object }).headers)).not.toContain('upgrade');
    }
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
    expect(connections.size).toBe(1);
    expect(upgrades).not.toHaveBeenCalled();
  });

  it('closes its connection if it says so', async () => {
    const response = await send('GET', { ...OFFER, connection: 'close, Upgrade, HTTP2-Settings' });
    expect(response.headers.connection).toBe('close');
    response.resume();
  });

  it('is left to the listeners of the server if the protocol is WebSocket', async () => {
    const response = await send('GET', { connection: 'Upgrade', upgrade: 'h2c, WebSocket' });
    expect(response.statusCode).toBe(400);
    expect(upgrades).toHaveBeenCalledTimes(1);
    response.resume();
  });
});
