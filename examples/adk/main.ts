// An agent of Google's ADK whose sessions are kept here: one line where its Runner is made.
import { BaseLlm, FunctionTool, LlmAgent, LogLevel, Runner, setLogLevel } from '@google/adk';
import type { BaseLlmConnection, LlmRequest, LlmResponse } from '@google/adk';
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { AdkSessionService } from 'nestjs-agent-sessions/adk';
import { toMessages } from 'nestjs-agent-sessions/agents';
import { z } from 'zod';

/** Stands for Gemini: asks the tool for the order that the user names, and says what it answered. */
class FakeModel extends BaseLlm {
  constructor() {
    super({ model: 'fake' });
  }

  override async *generateContentAsync({ contents }: LlmRequest): AsyncGenerator<LlmResponse, void> {
    const [{ text, functionResponse } = {}] = contents.at(-1)?.parts ?? [];
    const part = functionResponse
      ? { text: `It is ${String(functionResponse.response?.status)}.` }
      : { functionCall: { name: 'find', args: { id: Number(/\d+/.exec(text ?? '')?.[0]) } } };
    yield { content: { role: 'model', parts: [part] } };
  }

  override connect(): Promise<BaseLlmConnection> {
    throw new Error('The fake model has no live connection');
  }
}

const find = new FunctionTool({
  name: 'find',
  description: 'Finds an order.',
  parameters: z.object({ id: z.number() }),
  execute: ({ id }, context) => {
    context?.state.set('user:lastOrder', id);
    return { status: id === 7 ? 'on its way' : 'lost' };
  },
});

@Injectable()
class Support {
  readonly #runner: Runner;

  constructor(private readonly sessions: AdkSessionService) {
    const instruction = 'You work for a shop. The last order was {user:lastOrder?}.';
    const agent = new LlmAgent({
      name: 'support',
      model: new FakeModel(),
      instruction,
      tools: [find],
      outputKey: 'answer',
    });
    this.#runner = new Runner({ appName: 'shop', agent, sessionService: sessions });
  }

  /** Messages of a session wait for each other, in all processes. */
  async reply(userId: string, sessionId: string, text: string): Promise<string> {
    await this.sessions.getOrCreateSession({ appName: 'shop', userId, sessionId });
    const newMessage = { role: 'user', parts: [{ text }] };
    let answer = '';
    for await (const { content } of this.sessions.runInTurn(this.#runner, {
      userId,
      sessionId,
      newMessage,
      waitMs: 10_000,
    })) {
      answer = content?.parts?.[0]?.text ?? answer;
    }
    return answer;
  }
}

const adk = {
  provide: AdkSessionService,
  useFactory: (sessions: SessionService) => new AdkSessionService({ sessions }),
  inject: [SessionService],
};

@Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })], providers: [adk, Support] })
class AppModule {}

setLogLevel(LogLevel.ERROR);
const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const support = app.get(Support);
const questions = ['Where is order 7?', 'And order 8?'];
console.log(await Promise.all(questions.map((text) => support.reply('ann', 'chat-1', text))));

// Everything else reads what ADK wrote.
const session = await app.get(SessionService).getSession({ appName: 'shop', userId: 'ann', sessionId: 'chat-1' });
for (const { role, content } of toMessages(session?.events ?? [], { format: 'openai' }))
  console.log(role, content ?? '(calls a tool)');
console.log(session?.state.toRecord());
await app.close();
