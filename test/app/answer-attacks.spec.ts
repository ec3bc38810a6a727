import { get, request } from 'node:http';
import { type Socket, connect } from 'node:net';
import { join } from 'node:path';
import { until } from '../support/until.js';
import { RunningApp } from './running-app.js';

const SESSIONS = '/apps/shop/users/ann/sessions';
const HEAP_MB = 512;
const VIEW_BYTES = 4_194_304;
const EVENTS = 5;
/** An event of 1 MB. */
const EVENT = JSON.stringify({ author: 'agent', content: { role: 'model', parts: [{ text: 'x'.repeat(1_000_000) }] } });

const VIEW = 'session(appName: "shop", userId: "ann", sessionId: "s") { events { body } }';
const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** Requests of one client that reads no answer, each on a connection of its own. */
const attacks = [
  { title: '300 views', times: 300, text: `GET ${SESSIONS}/s HTTP/1.1\r\nhost: localhost\r\n\r\n` },
  {
    title: '200 threads of AG-UI',
    times: 200,
    text: post(
      '/apps/shop/users/ann/ag-ui/connect',
      JSON.stringify({ threadId: 's', runId: 'r', messages: [], tools: [], context: [] }),
    ),
  },
  {
    title: '100 documents of GraphQL with the view twice',
    times: 100,
    text: post('/graphql', JSON.stringify({ query: `{ a: ${VIEW} b: ${VIEW} }` })),
  },
];

const apps = [
  { name: 'npm start', script: undefined },
  { name: 'an app on Fastify', script: join(__dirname, 'fastify-app.mjs') },
];

describe.each(apps)('$name, with a heap of 512 MB', ({ script }) => {
  let app: RunningApp;
  const open: Socket[] = [];

  beforeEach(async () => {
    const settings = {
      SESSIONS_PROVIDER: 'memory',
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
      REQUEST_LOG: 'false',
    };
    app = await RunningApp.start(settings, script);
    await created(SESSIONS, '{"sessionId":"s"}');
    for (let number = 0; number < EVENTS; number++) await created(`${SESSIONS}/s/events`, EVENT);
  });
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.destroy();
    await app.remove();
  });

  it.each(attacks)('survives $title that are not read, and answers others', async ({ times, text }) => {
    let begun = 0;
    for (let number = 0; number < times; number++) open.push(unread(text, () => begun++));
    for (const some of [1, times]) {
      // The first ones are answered, and hold what their client may have. The last ones are refused after a while.
      await until(
        () => isOver() || begun >= some,
        () => `${begun} answers`,
      );
      expect(isOver()).toBe(false);
      expect(await bytesFor(`${SESSIONS}/s`, '127.0.0.2')).toBeGreaterThan(VIEW_BYTES / 2);
    }
  });

  function isOver(): boolean {
    return app.process.exitCode !== null || app.process.signalCode !== null;
  }

  /** @param onBegun called when an answer begins, or there will be none */
  function unread(text: string, onBegun: () => void): Socket {
    const { hostname, port } = new URL(app.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => undefined);
    // Emitted once something has come, or the connection was closed. Nothing is read.
    socket.once('readable', onBegun);
    socket.write(text);
    return socket;
  }

  /** As a client at another address, who reads. */
  function bytesFor(path: string, localAddress: string): Promise<number> {
    return new Promise((resolve, reject) => {
      get(app.url + path, { localAddress, agent: false }, (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => (bytes += chunk.length));
        response.once('error', reject).once('end', () => resolve(response.statusCode === 200 ? bytes : 0));
      }).once('error', reject);
    });
  }

  function created(path: string, body: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const sent = request(app.url + path, { method: 'POST', headers, agent: false }, (response) => {
        response.resume().once('end', () => (response.statusCode === 201 ? resolve() : reject(new Error(path))));
      });
      sent.once('error', reject).end(body);
    });
  }
});
