// Sessions in Redis, and the keys that one conversation leaves there. REDIS_URL says where Redis is.
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';

const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const prefix = `example-${randomUUID()}:`;

@Module({ imports: [SessionsModule.forRoot({ provider: 'redis', redis: { url, prefix } })] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const sessions = app.get(SessionService);
const session = await sessions.createSession({
  appName: 'shop',
  userId: 'ann',
  sessionId: 'order-7',
  state: { step: 1, 'user:language': 'en', 'app:currency': 'EUR' },
});
await sessions.appendEvent({ session, event: { id: 'e-1', author: 'user', actions: { stateDelta: { step: 2 } } } });
await app.close();

// The same that redis-cli shows.
const redis = new Redis(url);
const keys = (await redis.keys(`${prefix}*`)).sort();
for (const key of keys) console.log((await redis.type(key)).padEnd(5), key.slice(prefix.length));
console.log('state of the session', await redis.hgetall(`${prefix}{shop|ann}:state:order-7`));
console.log('ids of its events   ', await redis.hgetall(`${prefix}{shop|ann}:ids:order-7`));

await redis.unlink(keys);
await redis.quit();
