import { connect } from 'node:net';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { frameworks } from '../rest/rest-app.js';
import { until } from '../support/until.js';
import { GraphqlApp } from './graphql-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const VIEW = 'session(appName: "shop", userId: "ann", sessionId: "s") { state }';
const STATE = 'userState(appName: "shop", userId: "ann")';
const field = (id: string): string => `${id}: createSession(appName: "shop", userId: "ann", sessionId: "${id}") { id }`;
const FIELDS = Array.from({ length: 10 }, (_, index) => `a${index}: ${VIEW} b${index}: ${STATE}`).join(' ');

describe.each(frameworks)('A client that leaves during a document on %s', (framework) => {
  let app: GraphqlApp;
  let reads: jest.SpyInstance;
  let others: jest.SpyInstance;
  let released: Promise<void>;
  let goOn: () => void;

  beforeEach(async () => {
    app = await GraphqlApp.start({ framework });
    await app.sessions.createSession(KEY);
    const { sessions } = app;
    const read = sessions.getSession.bind(sessions);
    released = new Promise<void>((resolve) => (goOn = resolve));
    reads = jest.spyOn(sessions, 'getSession').mockImplementation(async (request) => {
      await released;
      return read(request);
    });
    others = jest.spyOn(sessions, 'getUserState');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await app.close();
  });

  /** All reads that follow the first one come to nothing: the next document is answered after them. */
  async function expectNoMoreReads(): Promise<void> {
    goOn();
    expect((await app.ask(`{ ${STATE} }`)).data).toEqual({ userState: {} });
    expect([reads.mock.calls.length, others.mock.calls.length]).toEqual([1, 1]);
  }

  /** Sends a document, and leaves while a call works. */
  async function leave(query: string, call: jest.SpyInstance): Promise<void> {
    const body = JSON.stringify({ query });
    const { hostname, port } = new URL(app.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(
      `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => call.mock.calls.length === 1);
    socket.destroy();
    await until(async () => (await app.connections()) === 0);
  }

  it('leaves the remaining fields unread over HTTP', async () => {
    await leave(`{ ${FIELDS} }`, reads);
    await expectNoMoreReads();
  });

  it('leaves the remaining fields unread over WebSockets', async () => {
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      lazy: false,
      onNonLazyError: () => undefined,
    });
    const events = client.iterate({ query: `{ ${FIELDS} }` });
    const answer = events.next().catch(() => undefined);
    await until(() => reads.mock.calls.length === 1);
    client.terminate();
    await until(async () => (await app.connections()) === 0);
    await expectNoMoreReads();
    await client.dispose();
    await answer;
  });

  it('has all fields written', async () => {
    const { sessions } = app;
    const create = sessions.createSession.bind(sessions);
    const written = jest.spyOn(sessions, 'createSession').mockImplementation(async (request) => {
      await released;
      return create(request);
    });
    await leave(`mutation { ${['a', 'b', 'c'].map(field).join(' ')} }`, written);
    goOn();
    await until(() => written.mock.calls.length === 3);
  });
});
