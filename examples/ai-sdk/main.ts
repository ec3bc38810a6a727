// A chat for `useChat` of the Vercel AI SDK. Its messages are a session: a stream that breaks goes on, and other agents read it.
import 'reflect-metadata';
import { Controller, Get, Inject, Module, Param, Post, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import {
  DefaultChatTransport,
  type UIMessage,
  convertToModelMessages,
  readUIMessageStream,
  simulateReadableStream,
  stepCountIs,
  streamText,
  tool,
} from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { AgentsModule, toMessages } from 'nestjs-agent-sessions/agents';
import {
  AnswersChat,
  ChatSessions,
  type ChatTurn,
  ChatsModule,
  CurrentTurn,
  type NodeResponse,
} from 'nestjs-agent-sessions/ai-sdk';
import { z } from 'zod';

const OWNER = { appName: 'shop', userId: 'ann' };

/** Looks an order up, and says where it is, word by word. */
const steps: LanguageModelV3StreamPart[][] = [
  [{ type: 'tool-call', toolCallId: 'c1', toolName: 'order', input: '{"id":7}' }, end('tool-calls')],
  [
    { type: 'text-start', id: 't' },
    ...'It is in Rome since this morning, and comes to you tomorrow.'
      .split(/(?<= )/)
      .map((delta): LanguageModelV3StreamPart => ({ type: 'text-delta', id: 't', delta })),
    { type: 'text-end', id: 't' },
    end('stop'),
  ],
];
const model = new MockLanguageModelV3({
  doStream: async () => ({ stream: simulateReadableStream({ chunkDelayInMs: 20, chunks: steps.shift() ?? [] }) }),
});

function end(unified: 'stop' | 'tool-calls'): LanguageModelV3StreamPart {
  const inputTokens = { total: 9, noCache: 9, cacheRead: undefined, cacheWrite: undefined };
  const outputTokens = { total: 4, text: 4, reasoning: undefined };
  return { type: 'finish', usage: { inputTokens, outputTokens }, finishReason: { unified, raw: undefined } };
}

const tools = {
  order: tool({ inputSchema: z.object({ id: z.number() }), execute: async ({ id }) => ({ id, city: 'Rome' }) }),
};

@Controller('api/chat')
class ChatController {
  constructor(@Inject(ChatSessions) private readonly chats: ChatSessions) {}

  @Post()
  @AnswersChat({ of: () => OWNER, policy: 'enqueue' })
  async answer(@CurrentTurn() turn: ChatTurn) {
    const messages = await convertToModelMessages(turn.messages);
    return streamText({ model, tools, messages, abortSignal: turn.signal, stopWhen: stepCountIs(3) });
  }

  @Get(':id')
  messages(@Param('id') sessionId: string): Promise<UIMessage[]> {
    return this.chats.load({ ...OWNER, sessionId });
  }

  @Get(':id/stream')
  async resume(@Param('id') sessionId: string, @Res() response: NodeResponse): Promise<void> {
    const running = await this.chats.resume({ ...OWNER, sessionId });
    if (running) await running.pipeTo(response);
    else response.writeHead(204).end();
  }
}

@Module({
  imports: [
    SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
    AgentsModule.forRoot({ isGlobal: true }),
    ChatsModule.forRoot({ tools }),
  ],
  controllers: [ChatController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
await app.listen(0, '127.0.0.1');
const api = `${await app.getUrl()}/api/chat`;

// What `useChat` does in a page.
const page = new DefaultChatTransport<UIMessage>({ api });
const leaving = new AbortController();
const message: UIMessage = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Where is my order?' }] };
const sent = { chatId: 'chat-1', messageId: undefined, messages: [message] };
const first = await page.sendMessages({ ...sent, trigger: 'submit-message', abortSignal: leaving.signal });
for await (const chunk of first) {
  if (chunk.type !== 'text-delta') continue;
  console.log('first said:', chunk.delta);
  break;
}
leaving.abort(); // the page is loaded again

const second = await page.reconnectToStream({ chatId: 'chat-1' });
let shown: UIMessage | undefined;
if (second) for await (const next of readUIMessageStream({ stream: second })) shown = next;
console.log('shown after the refresh:', shown?.parts.map(({ type }) => type).join(', '));
console.log(shown?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''));

const stored = (await (await fetch(`${api}/chat-1`)).json()) as UIMessage[];
console.log('stored:', stored.map(({ id, role }) => `${role} ${id}`).join(', '));
const session = await app.get(SessionService).getSession({ ...OWNER, sessionId: 'chat-1' });
for (const { role, content } of toMessages(session?.events ?? [], { format: 'openai' }))
  console.log(role, content ?? 'calls a tool');
await app.close();
