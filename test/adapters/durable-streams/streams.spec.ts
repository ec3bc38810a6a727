import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { mountDurableStreams } from '../../../src/adapters/durable-streams/index.js';
import { SessionService, SessionsModule } from '../../../src/index.js';
import { describeSharedStores } from '../../support/processes/shared-stores.js';
import { openDescribed } from '../../support/processes/store-description.js';
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
