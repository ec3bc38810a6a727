import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DurableStreams, mountDurableStreams } from '../../../src/adapters/durable-streams/index.js';
import { getStream } from '../../../src/adapters/durable-streams/read-stream.js';
import { RequestHeaders } from '../../../src/adapters/durable-streams/stream-headers.js';
import { producerKey } from '../../../src/adapters/durable-streams/stream-producers.js';
import { StreamSessions } from '../../../src/adapters/durable-streams/stream-session.js';
import { InvalidInputError, SessionService, SessionsModule } from '../../../src/index.js';
import { describeSharedStores } from '../../support/processes/shared-stores.js';
import { openDescribed } from '../../support/processes/store-description.js';
import { until } from '../../support/until.js';
import { served } from './support/served.js';

@Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })] })
class AppModule {}

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('Streams in an app on %s', (_name, adapter) => {
  it('keep bytes as they are, belong to the user who is signed in, and leave other routes alone', async () => {
    const app = await NestFactory.create(AppModule, adapter(), { logger: false });
    mountDurableStreams(app, {
      owner: ({ headers: { authorization } }) =>
        authorization ? { appName: 'shop', userId: authorization } : undefined,
    });
    await app.listen(0, '127.0.0.1');
    const url = `${await app.getUrl()}/v1/stream/jobs/${encodeURIComponent('ä/b')}`;
    const ann = { authorization: 'ann' };
    try {
      const json = { ...ann, 'content-type': 'application/json' };
      expect((await fetch(url, { method: 'PUT', headers: json })).status).toBe(201);
      expect((await fetch(url, { method: 'POST', headers: json, body: '{"a":1}' })).status).toBe(204);
      expect((await fetch(url, { method: 'POST', headers: json, body: 'no json' })).status).toBe(400);
      expect(await (await fetch(url, { headers: ann })).json()).toEqual([{ a: 1 }]);
      expect((await fetch(url, { headers: { authorization: 'bob' } })).status).toBe(404);
      expect((await fetch(url)).status).toBe(401);
      expect((await fetch(`${await app.getUrl()}/other`, { method: 'POST', headers: json, body: '{}' })).status).toBe(
        404,
      );
      expect((await fetch(`${await app.getUrl()}/v1/stream/..%2f`, { headers: ann })).status).toBe(404);
      expect((await fetch(`${await app.getUrl()}/v1/stream/%00`, { headers: ann })).status).toBe(400);
    } finally {
      await app.close();
    }
  });
});

describe('A conversation as a stream', () => {
  it('is read live, and never written', async () => {
    const { sessions, url, close } = await served();
    const session = await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 'chat' });
    const event = await sessions.appendEvent({
      session,
      event: { author: 'user', content: { parts: [{ text: 'Hi' }] } },
    });
    const first = await fetch(`${url}/chat`);
    expect(await first.json()).toEqual([expect.objectContaining({ id: event.id, author: 'user' })]);
    const offset = first.headers.get('stream-next-offset');
    const live = fetch(`${url}/chat?offset=${offset}&live=long-poll`);
    await sessions.appendEvent({ session, event: { author: 'agent', content: { parts: [{ text: 'Hello' }] } } });
    expect(await (await live).json()).toEqual([expect.objectContaining({ author: 'agent' })]);
    const json = { 'content-type': 'application/json' };
    for (const method of ['POST', 'DELETE']) {
      expect(
        (await fetch(`${url}/chat`, { method, headers: json, ...(method === 'POST' && { body: '{}' }) })).status,
      ).toBe(405);
    }
    expect((await fetch(`${url}/chat`, { method: 'PUT', headers: json })).status).toBe(409);
    await close();
  });

  it('adds nothing to a stream that a client wrote as a user', async () => {
    const { sessions, url, close } = await served();
    await fetch(`${url}/s`, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'real' });
    const forged = { 'durable-streams': { text: 'forged' } };
    const session = { appName: 'shop', userId: 'ann', id: 's' };
    await sessions.appendEvent({ session, event: { author: 'user', customMetadata: forged } });
    expect(await (await fetch(`${url}/s`)).text()).toBe('real');
    await close();
  });
});

interface PutInit {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const TEXT = { 'content-type': 'text/plain' };
const S = { appName: 'shop', userId: 'ann', sessionId: 's' };

describe('A stream', () => {
  let streams: Awaited<ReturnType<typeof served>>;
  const put = async (path: string, { headers, ...init }: PutInit = {}) =>
    fetch(`${streams.url}/${path}`, { method: 'PUT', ...init, headers: { ...TEXT, ...headers } });
  const textOf = async (path: string) => (await fetch(`${streams.url}/${path}`)).text();
  beforeEach(async () => void (streams = await served()));
  afterEach(async () => {
    jest.restoreAllMocks();
    await streams.close();
  });

  it.each([
    ['is created', undefined, 'bc'],
    ['is a fork', { 'stream-forked-from': '/source' }, 'abc'],
  ])('has the body that it is made with, when it %s and others append at once', async (_how, headers, whole) => {
    const { sessions } = streams;
    const other = await served(sessions);
    await put('source', { body: 'a' });
    const append = sessions.appendEvents.bind(sessions);
    jest.spyOn(sessions, 'appendEvents').mockImplementationOnce(async (request) => {
      await fetch(`${other.url}/s`, { method: 'POST', headers: TEXT, body: 'b' });
      return append(request);
    });
    try {
      expect((await put('s', { body: 'c', headers })).status).toBe(201);
      expect(await textOf('s')).toBe(whole);
    } finally {
      await other.close();
    }
  });

  it('is not made if its body does not fit', async () => {
    await put('source');
    const body = '\u0001'.repeat(300_000);
    for (const headers of [undefined, { 'stream-forked-from': '/source' }]) {
      expect((await put('s', { body, headers })).status).toBe(413);
      expect((await fetch(`${streams.url}/s`)).status).toBe(404);
    }
  });

  it('takes appends of a producer whose state a client wrote', async () => {
    await put('s');
    const stateDelta = { [producerKey('p')]: 'x' };
    const session = { ...S, id: 's' };
    await streams.sessions.appendEvent({ session, event: { author: 'user', actions: { stateDelta } } });
    const producer = { 'producer-id': 'p', 'producer-epoch': '0', 'producer-seq': '0' };
    const append = { method: 'POST', headers: { ...TEXT, ...producer }, body: 'a' };
    expect((await fetch(`${streams.url}/s`, append)).status).toBe(200);
  });

  it('that expired takes no successor along', async () => {
    const { sessions } = streams;
    const expired = { fields: { 'agents:stream': { contentType: 'text/plain', expiresAt: '2000-01-01T00:00:00Z' } } };
    await sessions.createSession({ ...S, metadata: expired });
    const get = sessions.getSession.bind(sessions);
    jest.spyOn(sessions, 'getSession').mockImplementationOnce(async (request) => {
      const found = await get(request);
      await put('s', { body: 'new' });
      return found;
    });
    expect((await fetch(`${streams.url}/s`)).status).toBe(404);
    expect(await textOf('s')).toBe('new');
  });

  it('that was deleted keeps its path, and none of its data, until its forks are gone', async () => {
    await put('s', { body: 'secret' });
    for (const path of ['fork', 'other']) await put(path, { headers: { 'stream-forked-from': '/s' } });
    const remove = async (path: string) => (await fetch(`${streams.url}/${path}`, { method: 'DELETE' })).status;
    expect([await remove('s'), await remove('fork'), await remove('s')]).toEqual([204, 204, 410]);
    expect((await streams.sessions.listEvents(S)).lastSeq).toBe(0);
    expect((await put('s')).status).toBe(409);
    expect([await remove('other'), (await put('s', { body: 'new' })).status]).toEqual([204, 201]);
    expect(await textOf('s')).toBe('new');
  });

  it('that was deleted and has forks takes no conversation along that began since', async () => {
    const { sessions, url } = streams;
    await put('s');
    await put('fork', { headers: { 'stream-forked-from': '/s' } });
    const remove = async (path: string) => (await fetch(`${url}/${path}`, { method: 'DELETE' })).status;
    expect(await remove('s')).toBe(204);
    const session = await sessions.getOrCreateSession(S);
    const said = { author: 'user', content: { parts: [{ text: 'Hi' }] } };
    const { id } = await sessions.appendEvent({ session, event: said });
    expect(await remove('fork')).toBe(204);
    expect(await (await fetch(`${url}/s`)).json()).toEqual([expect.objectContaining({ id })]);
    expect(await remove('s')).toBe(405);
  });

  it('that was deleted and has forks takes no conversation along that begins while the last of them is deleted', async () => {
    const { sessions, url } = streams;
    await put('s');
    await put('fork', { headers: { 'stream-forked-from': '/s' } });
    const remove = async (path: string) => (await fetch(`${url}/${path}`, { method: 'DELETE' })).status;
    expect(await remove('s')).toBe(204);
    const deletion = sessions.deleteSession.bind(sessions);
    jest.spyOn(sessions, 'deleteSession').mockImplementation(async (request) => {
      if (request.sessionId === 's') {
        await sessions.appendEvent({ session: await sessions.getOrCreateSession(S), event: { author: 'user' } });
      }
      return deletion(request);
    });
    expect(await remove('fork')).toBe(204);
    expect(await sessions.getSession(S)).toMatchObject({ version: 1 });
  });

  it('that is a fork and over stays if it is used between the list and the deletion', async () => {
    const { sessions, url } = streams;
    await put('s');
    await put('fork', { headers: { 'stream-forked-from': '/s', 'stream-ttl': '60' } });
    const list = sessions.listSessions.bind(sessions);
    const start = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(start + 61_000);
    jest.spyOn(sessions, 'listSessions').mockImplementationOnce(async (request) => {
      const page = await list(request);
      // As another instance does that read it a moment ago.
      const session = { appName: 'shop', userId: 'ann', id: 'fork' };
      await sessions.appendEvent({ session, event: { author: 'durable-streams' } });
      return page;
    });
    expect((await fetch(`${url}/s`, { method: 'DELETE' })).status).toBe(204);
    clock.mockReturnValue(start + 62_000);
    expect((await fetch(`${url}/fork`)).status).toBe(200);
  });

  it('goes with what is appended while it is deleted', async () => {
    const { sessions, url } = streams;
    await put('s');
    const deletion = sessions.deleteSession.bind(sessions);
    jest.spyOn(sessions, 'deleteSession').mockImplementationOnce(async (request) => {
      await sessions.appendEvent({ session: { ...S, id: 's' }, event: { author: 'stream' } });
      return deletion(request);
    });
    expect((await fetch(`${url}/s`, { method: 'DELETE' })).status).toBe(204);
    expect((await fetch(`${url}/s`)).status).toBe(404);
  });

  it('keeps its path if another instance makes a fork while it is deleted', async () => {
    const { sessions, url } = streams;
    const other = await served(sessions);
    await put('s', { body: 'a' });
    const deletion = sessions.deleteSession.bind(sessions);
    jest.spyOn(sessions, 'deleteSession').mockImplementationOnce(async (request) => {
      const headers = { ...TEXT, 'stream-forked-from': '/s' };
      expect((await fetch(`${other.url}/fork`, { method: 'PUT', headers })).status).toBe(201);
      return deletion(request);
    });
    try {
      expect((await fetch(`${url}/s`, { method: 'DELETE' })).status).toBe(204);
      expect([(await fetch(`${url}/s`)).status, (await put('s')).status]).toEqual([410, 409]);
      expect(await textOf('fork')).toBe('a');
    } finally {
      await other.close();
    }
  });

  it.each([
    ['', []],
    [', and has another fork', ['other']],
    [', and created again', []],
  ])('is not forked if it is deleted meanwhile%s', async (how, others) => {
    const { sessions, url } = streams;
    const forked = { 'stream-forked-from': '/s' };
    await put('s', { body: 'a' });
    for (const each of others) await put(each, { headers: forked });
    const append = sessions.appendEvents.bind(sessions);
    jest.spyOn(sessions, 'appendEvents').mockImplementationOnce(async (request) => {
      expect((await fetch(`${url}/s`, { method: 'DELETE' })).status).toBe(204);
      if (how.includes('again')) expect((await put('s', { body: 'new' })).status).toBe(201);
      return append(request);
    });
    expect((await put('fork', { headers: forked })).status).toBe(404);
    expect((await fetch(`${url}/fork`)).status).toBe(404);
    for (const each of others) expect((await fetch(`${url}/${each}`, { method: 'DELETE' })).status).toBe(204);
    expect((await put('s')).status).toBe(how.includes('again') ? 200 : 201);
  });

  it.each(['', '&live=long-poll', '&live=sse'])('has no offset after its end: GET ?offset=…999%s', async (live) => {
    await put('s', { body: 'a' });
    const { status } = await fetch(`${streams.url}/s?offset=0000000000000000_0000000000000999${live}`);
    expect(status).toBe(400);
    // One that is used up is none of these.
    const end = (await fetch(`${streams.url}/s`)).headers.get('stream-next-offset') ?? '';
    expect((await fetch(`${streams.url}/s?offset=${end}`)).status).toBe(200);
  });

  it('that is created again, and shorter, ends live reads of the earlier one', async () => {
    await put('s', { body: 'a' });
    for (let each = 0; each < 3; each++) await fetch(`${streams.url}/s`, { method: 'POST', headers: TEXT, body: 'b' });
    const end = (await fetch(`${streams.url}/s`)).headers.get('stream-next-offset') ?? '';
    const again = async () => {
      await fetch(`${streams.url}/s`, { method: 'DELETE' });
      await put('s', { body: 'c' });
    };
    const watch = streams.sessions.watch.bind(streams.sessions);
    jest.spyOn(streams.sessions, 'watch').mockImplementationOnce((request) => {
      const watching = (async function* () {
        await again();
        yield* watch(request);
      })();
      return watching as ReturnType<typeof watch>;
    });
    expect((await fetch(`${streams.url}/s?offset=${end}&live=long-poll`)).status).toBe(404);
  });

  it('that lost its end in the store ends live reads', async () => {
    await put('s', { body: 'a' });
    const end = (await fetch(`${streams.url}/s`)).headers.get('stream-next-offset') ?? '';
    const watch = jest.spyOn(streams.sessions, 'watch').mockImplementation(async function* () {
      await Promise.reject(new InvalidInputError('must be at most 0, the last event', 'afterSeq'));
      yield* [];
    } as () => ReturnType<SessionService['watch']>);
    expect((await fetch(`${streams.url}/s?offset=${end}&live=long-poll`)).status).toBe(400);
    const events = await fetch(`${streams.url}/s?offset=${end}&live=sse`);
    expect(await events.text()).toContain('upToDate');
    expect(watch).toHaveBeenCalledTimes(2);
  });

  it('ends live reads when the service is finished', async () => {
    await put('s', { body: 'a' });
    const end = (await fetch(`${streams.url}/s`)).headers.get('stream-next-offset') ?? '';
    const watching = jest.spyOn(streams.sessions, 'watch');
    const longPoll = fetch(`${streams.url}/s?offset=${end}&live=long-poll`);
    const events = fetch(`${streams.url}/s?offset=${end}&live=sse`).then((response) => response.text());
    await until(() => watching.mock.calls.length === 2);
    await streams.sessions.finish();
    expect((await longPoll).status).toBe(503);
    expect(await events).toContain('upToDate');
  });

  it('that was deleted leaves nothing once its last fork is over', async () => {
    const { sessions, url } = streams;
    const remove = async (path: string) => (await fetch(`${url}/${path}`, { method: 'DELETE' })).status;
    const depth = 120;
    const left = async () =>
      (await sessions.listSessions({ appName: 'shop', userId: 'ann', limit: 1_000 })).sessions.map((each) => each.id);
    await put('s0', { body: 'a' });
    for (let each = 1; each <= depth; each++) {
      await put(`s${each}`, { headers: { 'stream-forked-from': `/s${each - 1}` } });
      expect(await remove(`s${each - 1}`)).toBe(204);
    }
    expect(await left()).toHaveLength(depth + 1);
    expect((await fetch(`${url}/s0`)).status).toBe(410);
    expect(await remove(`s${depth}`)).toBe(204);
    expect(await left()).toEqual([]);

    await put('s', { body: 'a' });
    const expiring = { 'stream-expires-at': new Date(Date.now() + 60_000).toISOString() };
    await put('fork', { headers: { ...expiring, 'stream-forked-from': '/s' } });
    await remove('s');
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    expect((await fetch(`${url}/fork`)).status).toBe(404);
    expect(await left()).toEqual([]);
  });

  /** A live read of `s` by a slow client. */
  const readLive = () => {
    const response = Object.assign(new EventEmitter(), {
      written: '',
      writableNeedDrain: true,
      writeHead: () => undefined,
      flushHeaders: () => undefined,
      end: () => undefined,
      write(text: string) {
        this.written += text;
      },
    });
    const reading = getStream({
      streams: new StreamSessions(streams.sessions),
      key: S,
      headers: new RequestHeaders({}),
      query: new URLSearchParams('offset=-1&live=sse'),
      response: response as unknown as ServerResponse,
      times: { longPollMs: 60_000, sseMs: 60_000 },
    });
    return { response, reading };
  };

  it('ends for a live reader when it is deleted, and has forks', async () => {
    await put('s', { body: 'a' });
    await put('fork', { headers: { 'stream-forked-from': '/s' } });
    const { response, reading } = readLive();
    await until(() => response.written.includes('upToDate'));
    expect((await fetch(`${streams.url}/s`, { method: 'DELETE' })).status).toBe(204);
    response.emit('drain');
    await expect(reading).resolves.toBeUndefined();
  });

  it('is read no faster than its reader takes it', async () => {
    await put('s', { body: 'first' });
    const watching = jest.spyOn(streams.sessions, 'watch');
    const { response, reading } = readLive();
    try {
      await until(() => response.written.includes('upToDate'));
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(watching).not.toHaveBeenCalled();
      response.emit('drain');
      await until(() => watching.mock.calls.length > 0);
    } finally {
      response.emit('close');
      await reading;
    }
  });

  it('ends the connection if not even a refusal can be sent', async () => {
    const request = { method: 'GET', url: '/s', headers: {} } as IncomingMessage;
    const response = {
      setHeader: () => undefined,
      end: () => {
        throw new Error('The response is broken');
      },
      destroy: jest.fn(),
    };
    const refusing = new DurableStreams({ sessions: streams.sessions, owner: () => undefined });
    await refusing.handle(request, response as unknown as ServerResponse);
    expect(response.destroy).toHaveBeenCalledTimes(1);
  });
});

describeSharedStores('Two instances that append to one stream on a $name store', ({ create }) => {
  it('lose and double nothing', async () => {
    const store = await create();
    const opened = await Promise.all([1, 2].map(async () => openDescribed(store.description)));
    const instances = await Promise.all(opened.map((storage) => served(new SessionService({ storage }))));
    const [first] = instances;
    if (!first) throw new Error('There are two');
    await fetch(`${first.url}/s`, { method: 'PUT', headers: { 'content-type': 'application/json' } });
    await Promise.all(instances.map(({ url }, writer) => writeTwice(url, writer === 0 ? 'a' : 'b')));
    const messages = (await (await fetch(`${first.url}/s`)).json()) as string[];
    expect(messages).toHaveLength(20);
    for (const writer of ['a', 'b']) {
      const own = messages.filter((message) => message.startsWith(writer));
      expect(own).toEqual(Array.from({ length: 10 }, (_, seq) => `${writer}${seq}`));
    }
    for (const { close } of instances) await close();
    await store.destroy();
  });
});

/** Appends ten messages, each of them twice, as after a lost answer. */
async function writeTwice(url: string, writer: string): Promise<void> {
  for (let seq = 0; seq < 10; seq++) {
    const headers = {
      'content-type': 'application/json',
      'producer-id': writer,
      'producer-epoch': '0',
      'producer-seq': `${seq}`,
    };
    const append = () => fetch(`${url}/s`, { method: 'POST', headers, body: `"${writer}${seq}"` });
    expect((await append()).status).toBe(200);
    expect((await append()).status).toBe(204);
  }
}
