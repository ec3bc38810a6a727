import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { LoggedEvent } from '../../src/index.js';
import { GraphqlApp } from './graphql-app.js';
import { until } from '../support/until.js';
import { LiveWatch } from './live-watch.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };
const S = 'appName: "shop", userId: "ann", sessionId: "s"';

type Message = Record<string, unknown> & { readonly type: string };

describe('the subscription to events', () => {
  let app: GraphqlApp;

  beforeEach(async () => {
    app = await GraphqlApp.start({ sessions: { watchPollMs: 20 }, server: { origins: ['https://own.example'] } });
    await app.sessions.createSession(KEY);
  });

  afterEach(async () => {
    await app.close();
  });

  const append = (number: number): Promise<LoggedEvent> =>
    app.sessions.appendEvent({ session: SESSION, event: { id: `e-${number}`, author: 'agent' } });
  const watch = (afterSeq?: number): LiveWatch =>
    new LiveWatch({ url: app.webSocketUrl, variables: { ...KEY, afterSeq } });

  it('delivers the log after an event, then new events', async () => {
    await append(1);
    await append(2);
    const stream = watch(1);
    expect((await stream.next()).value).toMatchObject({ seq: 2, id: 'e-2' });
    await append(3);
    expect((await stream.next()).value).toMatchObject({ seq: 3 });
    await stream.return();
  });

  it('resumes after fifty broken connections without loss or repetition', async () => {
    const COUNT = 300;
    const appending = (async () => {
      for (let number = 1; number <= COUNT; number++) await append(number);
    })();
    const seqs: number[] = [];
    for (let cut = 0; cut < 50; cut++) {
      const stream = watch(seqs.at(-1) ?? 0);
      // Sizes from 1 to 5, in a pseudo-random order.
      for (let taken = 0; taken <= (cut * 7) % 5; taken++) seqs.push((await stream.next()).value?.seq ?? 0);
      stream.cut();
    }
    await appending;
    const rest = watch(seqs.at(-1));
    while (seqs.length < COUNT) seqs.push((await rest.next()).value?.seq ?? 0);
    await rest.return();
    expect(seqs).toEqual(Array.from({ length: COUNT }, (_, index) => index + 1));
  });

  it('ends its watch when the connection closes or the client completes it', async () => {
    const watches = jest.spyOn(app.sessions, 'watch');
    const ends: Promise<void>[] = [];
    watches.mockImplementation((request) => {
      watches.mockRestore();
      const inner = app.sessions.watch(request);
      ends.push(
        new Promise((resolve) => {
          const end = inner.return?.bind(inner);
          inner.return = async (value) => {
            resolve();
            return end?.(value) ?? { done: true, value: undefined };
          };
        }),
      );
      return inner;
    });
    const stream = watch(0);
    await append(1);
    await stream.next();
    stream.cut();
    await Promise.all(ends);
    expect(ends).toHaveLength(1);
  });

  it('reports a deleted session and invalid arguments', async () => {
    await append(1);
    const stream = watch(0);
    await stream.next();
    await Promise.all([
      expect(stream.next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND', status: 404 }),
      app.sessions.deleteSession(KEY),
    ]);
    await stream.return();
    await app.sessions.createSession(KEY);
    const beyond = watch(7);
    await expect(beyond.next()).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'afterSeq' });
    await beyond.return();
  });

  it('reports invalid variables as over HTTP', async () => {
    const wrong = watch(1.5);
    await expect(wrong.next()).rejects.toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
    await wrong.return();
  });

  it.each([
    { title: 'goes', finish: async () => undefined },
    { title: 'ends its streams, and then goes', finish: () => app.sessions.finish() },
  ])('is cut, not completed, when the server $title, so that its readers come again', async ({ finish }) => {
    const socket = await connect();
    socket.send(subscription(`subscription { eventAppended(${S}, afterSeq: 0) { seq } }`));
    await append(1);
    await nextMessage(socket);
    const closed = once(socket, 'close');
    const said = messagesOf(socket);
    await finish();
    await app.close();
    expect((await closed)[0]).toBe(1001);
    expect(said).toEqual([]);
    app = await GraphqlApp.start();
  });

  it.each([
    ['subscription { eventAppended(', 'GRAPHQL_PARSE_FAILED'],
    ['subscription { nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    [`{ ${'a { '.repeat(1_000)} b ${'}'.repeat(1_000)} }`, 'GRAPHQL_PARSE_FAILED'],
    [`{ ${Array.from({ length: 31 }, (_, i) => `a${i}: __typename`).join(' ')} }`, 'LIMIT_EXCEEDED'],
    ['{ sessions(appName: "shop", first: 1000000000) { nodes { id } } }', 'LIMIT_EXCEEDED'],
    [`{ __typename }${'#\n'.repeat(40_000)}`, 'LIMIT_EXCEEDED'],
  ])('refuses what HTTP refuses, and keeps the connection: %.40s', async (query, code) => {
    const socket = await connect();
    socket.send(subscription(query));
    expect(await nextMessage(socket)).toMatchObject({ type: 'error', payload: [{ extensions: { code } }] });
    socket.send(subscription('{ __typename }'));
    expect(await nextMessage(socket)).toMatchObject({ type: 'next', payload: { data: { __typename: 'Query' } } });
    socket.close();
  });

  it('limits the streams of one connection', async () => {
    const socket = await connect();
    for (let id = 0; id <= 100; id++)
      socket.send(subscription(`subscription { eventAppended(${S}) { seq } }`, String(id)));
    expect(await nextMessage(socket)).toMatchObject({
      type: 'error',
      id: '100',
      payload: [{ extensions: { code: 'LIMIT_EXCEEDED' } }],
    });
    socket.terminate();
  });

  it('keeps operations apart that have one id after the other, also if the first one has just begun', async () => {
    const session = await app.sessions.createSession({ ...KEY, sessionId: 'other' });
    await app.sessions.appendEvent({ session, event: { id: 'of-other', author: 'agent' } });
    const follow = (sessionId: string): string =>
      subscription(
        `subscription { eventAppended(appName: "shop", userId: "ann", sessionId: "${sessionId}", afterSeq: 0) { id } }`,
      );
    const complete = JSON.stringify({ id: 'one', type: 'complete' });
    const socket = await connect();
    const received = messagesOf(socket);
    for (let time = 0; time < 20; time++) for (const message of [follow('s'), complete]) socket.send(message);
    socket.send(follow('other'));
    await until(() => received.length > 0);
    await append(1);
    // The second one has begun, and ends while the third one begins.
    for (const message of [complete, follow('s')]) socket.send(message);
    await until(() => received.length > 1);
    socket.send(subscription('{ __typename }', 'last'));
    await until(() => received.some((message) => message.includes('"complete"')));
    expect(received.map((message) => JSON.parse(message) as Message)).toMatchObject([
      { id: 'one', type: 'next', payload: { data: { eventAppended: { id: 'of-other' } } } },
      { id: 'one', type: 'next', payload: { data: { eventAppended: { id: 'e-1' } } } },
      { id: 'last', type: 'next' },
      { id: 'last', type: 'complete' },
    ]);
    socket.terminate();
  });

  it.each(['variables', 'extensions'])('refuses %s that it would have to keep', async (field) => {
    const socket = await connect();
    const payload = { query: `subscription { eventAppended(${S}) { seq } }`, [field]: { unused: 'x'.repeat(70_000) } };
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
    expect(await nextMessage(socket)).toMatchObject({
      type: 'error',
      payload: [{ message: expect.stringContaining('the limit is 65536'), extensions: { code: 'LIMIT_EXCEEDED' } }],
    });
    socket.terminate();
  });

  it('closes a connection that gives an id twice, however long that is, without a line in the log', async () => {
    const printed = jest.spyOn(console, 'error').mockImplementation();
    const socket = await connect();
    const twice = subscription(`subscription { eventAppended(${S}) { seq } }`, 'ü'.repeat(1_000));
    for (let time = 0; time < 20; time++) socket.send(twice);
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([4409, expect.stringMatching(/^Subscriber for ü+$/)]);
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });

  it.each([
    ['https://evil.example', false],
    ['null', false],
    ['https://own.example', true],
    [undefined, true],
  ])('checks the origin %s, allowed: %p', async (origin, isWelcome) => {
    expect(await isLetIn(origin)).toBe(isWelcome);
  });

  it('accepts pages of the server itself', async () => {
    expect(await isLetIn(app.url)).toBe(true);
  });

  async function isLetIn(origin: string | undefined): Promise<boolean> {
    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws', origin === undefined ? {} : { origin });
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    const answer = await Promise.race([once(socket, 'message'), once(socket, 'close')]);
    socket.terminate();
    return answer[0] !== 4403;
  }

  async function connect(): Promise<WebSocket> {
    const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws');
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    await nextMessage(socket);
    return socket;
  }
});

function subscription(query: string, id = 'one'): string {
  return JSON.stringify({ id, type: 'subscribe', payload: { query } });
}

/** Messages that do not complete an operation. */
async function nextMessage(socket: WebSocket): Promise<Message> {
  for (;;) {
    const [data] = (await once(socket, 'message')) as [Buffer];
    const message = JSON.parse(data.toString()) as Message;
    if (message.type !== 'complete') return message;
  }
}

function messagesOf(socket: WebSocket): string[] {
  const messages: string[] = [];
  socket.on('message', (data: Buffer) => messages.push(data.toString()));
  return messages;
}
