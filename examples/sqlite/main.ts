// Sessions in a SQLite file: they survive a restart, a retry stores nothing twice, a stale writer is refused.
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionService, SessionsModule, StaleSessionError } from 'nestjs-agent-sessions';

const folder = await mkdtemp(join(tmpdir(), 'agent-sessions-example-'));
const database = join(folder, 'sessions.db');
const key = { appName: 'shop', userId: 'ann', sessionId: 'order-7' };

@Module({ imports: [SessionsModule.forRoot({ provider: 'typeorm', database: { database } })] })
class AppModule {}
const start = () => NestFactory.createApplicationContext(AppModule, { logger: false });

const before = await start();
const session = await before.get(SessionService).createSession(key);
const event = { id: 'order-placed', author: 'agent', actions: { stateDelta: { total: 42 } } };
console.log('appended     ', (await before.get(SessionService).append({ session, event })).event.seq);
await before.close();

// After a restart the app is not sure whether the append arrived, so it sends the event again.
const after = await start();
const sessions = after.get(SessionService);
const loaded = await sessions.getOrCreateSession(key);
const again = await sessions.append({ session: loaded, event });
console.log('sent again   ', { seq: again.event.seq, duplicate: again.duplicate });

// A writer that decided on an old version is refused.
await sessions.appendEvent({ session: loaded, event: { author: 'agent', actions: { stateDelta: { total: 40 } } } });
try {
  await sessions.appendEvent({ session: loaded, event: { author: 'agent' }, expectedVersion: 1 });
} catch (error) {
  if (error instanceof StaleSessionError) console.log('too late     ', `${error.code}: ${error.message}`);
}

console.log('state        ', (await sessions.getSession(key))?.state);
await after.close();
await rm(folder, { recursive: true });
