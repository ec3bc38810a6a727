// Summaries by workers on other machines: BullMQ takes them there. REDIS_URL says where Redis is.
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { SummarizerModule, SummarizerSessionManager } from 'nestjs-agent-sessions/summarizer';
import { queueDueSummaries, summaryWorker } from './summary-queue.js';

const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const prefix = `example-${randomUUID()}:`;
const queueOptions = { connection: { url }, prefix };

@Module({})
class AppModule {
  /** The same thresholds everywhere. */
  static forRoot({ leaveToOthers }: { readonly leaveToOthers: boolean }): DynamicModule {
    return {
      module: AppModule,
      imports: [
        SessionsModule.forRoot({ provider: 'redis', redis: { url, prefix }, isGlobal: true }),
        SummarizerModule.forRoot({ events: 9, keepRecentEvents: 4, leaveToOthers }),
      ],
    };
  }
}

async function start(leaveToOthers: boolean): Promise<INestApplicationContext> {
  return NestFactory.createApplicationContext(AppModule.forRoot({ leaveToOthers }), { logger: false });
}

// In a deployment, these are three processes: one that answers requests, and two that write summaries.
const api = await start(true);
const queue = queueDueSummaries(api.get(SummarizerSessionManager), queueOptions);
const apps = [await start(false), await start(false)];
const workers = apps.map((app) =>
  summaryWorker(app.get(SummarizerSessionManager), { ...queueOptions, concurrency: 4 }),
);

const events = new QueueEvents('summaries', queueOptions);
await events.waitUntilReady();
const done = once(events, 'completed');

const sessions = api.get(SessionService);
const key = { appName: 'shop', userId: 'ann', sessionId: 'order-7' };
const session = await sessions.createSession(key);
for (let turn = 1; turn <= 5; turn++) {
  await append('user', `Where is parcel ${turn}?`);
  await append('shop', `Parcel ${turn} is on its way.`);
}
await done;

const summary = await api.get(SummarizerSessionManager).getSessionSummary(key);
console.log('the summary covers', summary?.fromSeq, 'to', summary?.toSeq);
const storedBy = (app: INestApplicationContext): number => app.get(SummarizerSessionManager).counts.stored;
const byWorkers = apps.map(storedBy).reduce((sum, stored) => sum + stored, 0);
console.log('written by the workers:', byWorkers, 'by the api:', storedBy(api));

await Promise.all([events, queue, ...workers].map((each) => each.close()));
await Promise.all([api, ...apps].map((app) => app.close()));
await removeKeys();

async function append(author: string, text: string): Promise<void> {
  const role = author === 'user' ? 'user' : 'model';
  await sessions.appendEvent({ session, event: { author, content: { role, parts: [{ text }] } } });
}

async function removeKeys(): Promise<void> {
  const redis = new Redis(url);
  await redis.unlink(await redis.keys(`${prefix}*`));
  await redis.quit();
}
