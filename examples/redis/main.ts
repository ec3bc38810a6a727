// Sessions over the Redis connection of the app, and the keys that one conversation leaves there. REDIS_URL says where Redis is.
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { RedisModule, getRedisConnectionToken } from '@nestjs-modules/ioredis';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Redis } from 'ioredis';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';

const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const prefix = `example-${randomUUID()}:`;

@Module({
  imports: [
    RedisModule.forRoot({ type: 'single', url }),
    SessionsModule.forRootAsync({
      inject: [getRedisConnectionToken()],
      useFactory: (client: Redis) => ({ provider: 'redis', redis: { client, prefix } }),
    }),
  ],
})
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

// The same that redis-cli shows, over the app's own connection.
const redis = app.get<Redis>(getRedisConnectionToken());
const keys = (await redis.keys(`${prefix}*`)).sort();
for (const key of keys) console.log((await redis.type(key)).padEnd(5), key.slice(prefix.length));
console.log('state of the session', await redis.hget(`${prefix}{shop|ann}:session:order-7`, 'state'));
console.log('the number of e-1   ', await redis.hget(`${prefix}{shop|ann}:session:order-7`, '=e-1'));

await redis.unlink(keys);
await app.close();
