// A chat with a page. PORT=3000 npm run example chat-page serves it; without PORT, two instances show what a refresh does.
import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionsClient } from 'nestjs-agent-sessions/client';

const port = process.env['PORT'];
if (port === undefined) await showRefresh();
else console.log(`The chat is at ${await (await start(Number(port))).getUrl()}`);

/** Loads the module only now, because it reads CHAT_DATABASE. */
async function start(on: number): Promise<INestApplication> {
  const { AppModule } = await import('./app.module.js');
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  app.enableShutdownHooks();
  await app.listen(on, '127.0.0.1');
  return app;
}

async function showRefresh(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'chat-page-'));
  process.env['CHAT_DATABASE'] = join(folder, 'chat.db');
  const [one, two] = [await start(0), await start(0)];
  const key = { appName: 'shop', userId: 'ann', sessionId: 'chat-1' };
  const first = new SessionsClient({ url: await one.getUrl() });
  const second = new SessionsClient({ url: await two.getUrl() });
  await first.createSession(key);

  const answered = first.runAgent({ ...key, newMessage: 'Say 20 words' });
  let shown = '';
  let position: string | undefined;
  for await (const event of first.watch({ ...key, afterSeq: 0, partials: true })) {
    if (!event.partial) continue;
    shown += event.content?.parts?.[0]?.text ?? '';
    position = event.position;
    if (shown.includes('word8')) break;
  }
  console.log('the first instance, until the refresh: ', shown.includes('word20') ? 'all' : 'a part');
  for await (const event of second.watch({ ...key, afterPosition: position, partials: true })) {
    const text = event.content?.parts?.[0]?.text ?? '';
    // The stored event replaces its pieces.
    shown = event.partial ? shown + text : text;
    if (!event.partial) break;
  }
  console.log('with the second one, from there on:    ', shown);
  await answered;

  await first.runAgent({ ...key, newMessage: 'Refund 4711' });
  const { approvals } = await second.listApprovals(key);
  const [approval] = approvals;
  console.log('the second instance asks:              ', approval?.hint);
  if (approval) await second.answerApproval({ ...key, approvalId: approval.approvalId, confirmed: true });
  const { events } = (await first.getSession(key)) ?? { events: [] };
  console.log('the log ends with:                     ', events.at(-1)?.content?.parts?.[0]?.text);
  await one.close();
  await two.close();
  rmSync(folder, { recursive: true });
}
