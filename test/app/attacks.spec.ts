import { type Socket, connect } from 'node:net';
import { join } from 'node:path';
import { get } from 'node:http';
import { gzipSync } from 'node:zlib';
import { until } from '../support/until.js';
import { RunningApp } from './running-app.js';

const EVENTS = '/apps/shop/users/ann/sessions/s/events';
const HEAP_MB = 128;
const LENGTH = 3_900_000;
const MESSAGE = `{"author":"user","customMetadata":{"x":"${'x'.repeat(LENGTH)}`;

interface Attack {
  readonly title: string;
  readonly times: number;
  /** How many bodies the server may wait for: two have room. */
  readonly held: number;
  readonly status: number;
  readonly body: Buffer;
  readonly encoding: string;
}

/** Bodies that do not end, each on a connection of its own. */
const attacks: readonly Attack[] = [
  {
    title: '200 compressed bodies',
    times: 200,
    held: 0,
    status: 415,
    body: gzipSync(MESSAGE).subarray(0, -20),
    encoding: 'gzip',
  },
  { title: '120 bodies of 3.9 MB', times: 120, held: 2, status: 429, body: Buffer.from(MESSAGE), encoding: 'identity' },
];

const apps = [
  { name: 'npm start', script: undefined },
  { name: 'an app on Fastify', script: join(__dirname, 'fastify-app.mjs') },
];

/** Sends a body that does not end. Adds the status of the answer; there is none while the server waits for the rest. */
function sendUnfinished(url: string, { body, encoding }: Attack, statuses: number[]): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.once('data', (head) => statuses.push(Number(/^HTTP\/1\.1 (\d+)/.exec(String(head))?.[1])));
  const head = [
    'content-type: application/json',
    `content-encoding: ${encoding}`,
    `content-length: ${body.length + 1}`,
  ];
  socket.write(`POST ${EVENTS} HTTP/1.1\r\nhost: localhost\r\n${head.join('\r\n')}\r\n\r\n`);
  socket.write(body);
  return socket;
}

/** As a client at another address. */
function statusFor(url: string, localAddress: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { localAddress, agent: false }, (response) => resolve(response.resume().statusCode)).once('error', reject);
  });
}

describe.each(apps)('$name, with a heap of 128 MB', ({ script }) => {
  let app: RunningApp;
  const open: Socket[] = [];

  beforeEach(async () => {
    const settings = {
      SESSIONS_PROVIDER: 'memory',
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
      REQUEST_LOG: 'false',
    };
    app = await RunningApp.start(settings, script);
  });
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.destroy();
    await app.remove();
  });

  it.each(attacks)('survives $title that do not end, from one client', async (attack) => {
    const statuses: number[] = [];
    open.push(...Array.from({ length: attack.times }, () => sendUnfinished(app.url, attack, statuses)));
    const isOver = (): boolean => app.process.exitCode !== null || app.process.signalCode !== null;
    await until(
      () => isOver() || statuses.length >= attack.times - attack.held,
      () => `${statuses.length} answers`,
    );
    expect(new Set(statuses)).toEqual(new Set([attack.status]));
    expect(await statusFor(`${app.url}/apps/shop/users/ann/sessions`, '127.0.0.2')).toBe(200);
    expect(isOver()).toBe(false);
  });
});
