import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { chunksOf, read, saidIn, user } from './support/chat-app.js';
import { ChatTestModule } from './support/chat.module.js';
import { httpAdapters } from './support/http-adapters.js';

describe.each(httpAdapters)('Chats over HTTP, on %s,', (_name, adapter) => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-sessions-'));
  const apps: INestApplication[] = [];
  const urls: string[] = [];

  beforeAll(async () => {
    for (let count = 0; count < 2; count++) {
      const app = await NestFactory.create(ChatTestModule.over(join(folder, 'chats.db')), adapter(), { logger: false });
      await app.listen(0, '127.0.0.1');
      apps.push(app);
      urls.push(`${await app.getUrl()}/api/chat`);
    }
  });

  afterAll(async () => {
    for (const app of apps) await app.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const page = (instance: 0 | 1): DefaultChatTransport<UIMessage> =>
    new DefaultChatTransport({ api: urls[instance] ?? '' });
  const send = (instance: 0 | 1, chatId: string, message: UIMessage, abortSignal?: AbortSignal) =>
    page(instance).sendMessages({
      chatId,
      messages: [message],
      messageId: undefined,
      trigger: 'submit-message',
      abortSignal,
    });
  const load = async (instance: 0 | 1, chatId: string): Promise<UIMessage[]> =>
    (await fetch(`${urls[instance]}/${chatId}`)).json() as Promise<UIMessage[]>;

  it('streams and stores what a method returns', async () => {
    const shown = await read(await send(0, 'plain', user('m1', 'hi')));
    expect(await load(1, 'plain')).toEqual([user('m1', 'hi'), JSON.parse(JSON.stringify(shown))]);
    const response = await fetch(urls[0] ?? '', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id: 'plain', messages: [user('m1', 'hi')] }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(response.headers.get('content-type')).toMatch('text/event-stream');
    expect(await response.text()).toContain('data: [DONE]');
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain'])(
    'refuses what a form of another site can send, as %s',
    async (type) => {
      const body =
        'id=forged&message[id]=m1&message[role]=user&message[parts][0][type]=text&message[parts][0][text]=hi';
      const response = await fetch(urls[0] ?? '', { method: 'POST', headers: { 'Content-Type': type }, body });
      expect(response.status).toBe(415);
      expect(await load(0, 'forged')).toEqual([]);
    },
  );

  it('refuses a file that is a script', async () => {
    const file = { type: 'file', mediaType: 'text/html', url: 'javascript:alert(1)' } as const;
    const sent = send(0, 'scripted', { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'see' }, file] });
    await expect(sent).rejects.toThrow('not a script');
  });

  it('goes on at another instance when the page is loaded again, each character once', async () => {
    const leaving = new AbortController();
    const first = await send(0, 'refresh', user('m1', 'Say 40 words'), leaving.signal);
    for await (const chunk of first) if (chunk.type === 'text-delta' && chunk.delta === 'word5 ') break;
    leaving.abort();
    const second = await page(1).reconnectToStream({ chatId: 'refresh' });
    const words = Array.from({ length: 40 }, (_, index) => `word${index + 1} `).join('');
    expect(saidIn(await chunksOf(second ?? new ReadableStream()))).toBe(words);
    expect((await load(1, 'refresh')).at(-1)).toMatchObject({ parts: [{ type: 'step-start' }, { text: words }] });
    // It may have ended between the load of a page and this request.
    const ended = await page(1).reconnectToStream({ chatId: 'refresh' });
    expect(saidIn(await chunksOf(ended ?? new ReadableStream()))).toBe(words);
    expect(await page(1).reconnectToStream({ chatId: 'none' })).toBeNull();
  });

  it('refuses a second message with 409, and stops from another instance', async () => {
    const first = await send(0, 'stop', user('m1', 'Say 400 words'));
    const chunks = chunksOf(first);
    await expect(send(1, 'stop', user('m2', 'hi'))).rejects.toThrow('TURN_HELD');
    expect(await (await fetch(`${urls[1]}/stop/stop`, { method: 'POST' })).json()).toEqual({ stopped: true });
    expect((await chunks).at(-1)).toEqual({ type: 'abort' });
    expect((await load(1, 'stop')).map(({ id }) => id)).toContain('m1');
  });

  it.each([
    ['a body without message', { id: 'bad' }],
    ['an invalid message', { id: 'bad', messages: [{ id: 'm', role: 'user', parts: [{ type: 'nonsense' }] }] }],
    ['an invalid id', { id: '..', messages: [user('m1', 'hi')] }],
  ])('refuses %s with 400', async (_what, body) => {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(urls[0] ?? '', { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_INPUT' });
  });
});
