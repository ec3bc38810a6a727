import { Controller, type INestApplication, Logger, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AnswersChat, type AnswersChatOptions, ChatsModule } from '../../../src/adapters/ai-sdk/index.js';
import { AgentsModule } from '../../../src/agents/index.js';
import { SessionsModule } from '../../../src/index.js';
import { user } from './support/chat-app.js';

const ANN = { appName: 'shop', userId: 'ann' };

/** What the page gets, and what the log says of it. */
interface Outcome {
  readonly status: number;
  readonly body: string;
  readonly log: string;
}

let app: INestApplication;
let said: jest.SpyInstance;
beforeEach(() => {
  said = jest.spyOn(Logger.prototype, 'error').mockImplementation();
});
afterEach(async () => {
  said.mockRestore();
  await app.close();
});

async function ask(owner: unknown, result: unknown): Promise<Outcome> {
  @Controller('api/chat')
  class ChatController {
    @Post()
    @AnswersChat({ of: (() => owner) as AnswersChatOptions['of'] })
    answer(): unknown {
      return result;
    }
  }
  @Module({
    imports: [
      SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
      AgentsModule.forRoot({ isGlobal: true }),
      ChatsModule.forRoot({ isGlobal: true }),
    ],
    controllers: [ChatController],
  })
  class ChatAppModule {}
  app = await NestFactory.create(ChatAppModule, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  const response = await fetch(`${await app.getUrl()}/api/chat`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ id: 'c', messages: [user('m-1', 'Hello')] }),
  });
  const body = await response.text();
  return { status: response.status, body, log: said.mock.calls.flat().map(String).join('\n') };
}

it.each([
  ['a response', new Response('Hello'), 'not a Response'],
  ['a text', 'Hello', 'not string'],
  ['nothing', undefined, 'not undefined'],
])('a handler that returns %s is told what to return', async (_name, result, not) => {
  const { body, log } = await ask(ANN, result);
  expect(body).toContain('"type":"error"');
  expect(log).toContain(`answer: must be what streamText() or createUIMessageStream() returns, ${not}`);
});

it.each([
  ['nobody', undefined, 'no appName'],
  ['an app alone', { appName: 'shop', userId: undefined }, 'no userId'],
])('a request that belongs to %s is a fault of the app', async (_name, owner, given) => {
  const { status, log } = await ask(owner, undefined);
  expect(status).toBe(500);
  expect(log).toContain(`AnswersChat: of returned ${given}; it must return { appName, userId }.`);
});
