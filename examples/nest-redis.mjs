// A Nest app with its sessions in Redis, and the keys that are there afterwards. REDIS_URL says where Redis is.
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const prefix = `example-${randomUUID()}:`;

class AppModule {}
Module({ imports: [SessionsModule.forRoot({ provider: 'redis', redis: { url, prefix } })] })(AppModule);

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

// What redis-cli would show.
const redis = new Redis(url);
const keys = (await redis.keys(`${prefix}*`)).sort();
for (const key of keys) console.log((await redis.type(key)).padEnd(5), key.slice(prefix.length));
const hash = (name) => redis.hgetall(`${prefix}${name}`);
console.log('state of the session', await hash('{shop|ann}:state:order-7'));
console.log('ids of its events   ', await hash('{shop|ann}:ids:order-7'));

await redis.unlink(keys);
await redis.quit();
