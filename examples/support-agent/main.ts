// An agent behind HTTP: each request is one turn, and the session keeps the conversation between them.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { SessionService } from 'nestjs-agent-sessions';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule, { logger: false });
await app.listen(0, '127.0.0.1');

for (const question of ['Where is my parcel?', 'It is order 4711.', 'When will it come?']) {
  const response = await fetch(`${await app.getUrl()}/users/ann/chats/order`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ question }),
  });
  console.log('ann:  ', question);
  console.log('agent:', ((await response.json()) as { answer: string }).answer);
}

// A new chat of the same user knows the order from the user's state.
const next = await app.get(SessionService).createSession({ appName: 'shop', userId: 'ann' });
console.log('state of the next chat:', next.state);
await app.close();
