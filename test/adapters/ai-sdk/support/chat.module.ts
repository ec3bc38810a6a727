import { Controller, type DynamicModule, Get, Inject, Module, Param, Post, Res } from '@nestjs/common';
import { type UIMessage, convertToModelMessages, simulateReadableStream, stepCountIs, streamText, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';
import {
  AnswersChat,
  ChatSessions,
  type ChatTurn,
  ChatsModule,
  CurrentTurn,
  type FastifyReply,
  type NodeResponse,
} from '../../../../src/adapters/ai-sdk/index.js';
import { AgentsModule } from '../../../../src/agents/index.js';
import { SessionsModule } from '../../../../src/index.js';
import { call, step, text } from './models.js';

const OWNER = { appName: 'shop', userId: 'ann' };

const tools = {
  refund: tool({
    inputSchema: z.object({ order: z.string() }),
    needsApproval: true,
    execute: async ({ order }) => `Order ${order} is refunded.`,
  }),
};

/** Says as many words as the user asks for, refunds after an approval, and repeats everything else. */
const scripted = new MockLanguageModelV3({
  doStream: async ({ prompt, abortSignal }) => {
    const last = prompt.at(-1);
    const said = prompt.findLast(({ role }) => role === 'user')?.content;
    const words = Array.isArray(said) ? said.map((part) => ('text' in part ? part.text : '')).join('') : '';
    const [, count] = /^Say (\d+)/.exec(words) ?? [];
    const [, order] = /^Refund (\d+)/.exec(words) ?? [];
    const pieces = Array.from({ length: Number(count ?? 0) }, (_, index) => `word${index + 1} `);
    const calls = order !== undefined && last?.role === 'user';
    const parts = calls
      ? [call('c1', 'refund', { order })]
      : text(...(count === undefined ? [`You said ${words}`] : pieces));
    const stream = simulateReadableStream({ chunks: step(...parts), chunkDelayInMs: count === undefined ? null : 25 });
    return { stream: abortSignal ? stream.pipeThrough(new TransformStream(), { signal: abortSignal }) : stream };
  },
});

@Controller('api/chat')
class ChatController {
  constructor(@Inject(ChatSessions) private readonly chats: ChatSessions) {}

  @Post()
  @AnswersChat({ of: () => OWNER })
  async answer(@CurrentTurn() turn: ChatTurn) {
    const messages = await convertToModelMessages(turn.messages);
    return streamText({ model: scripted, tools, messages, abortSignal: turn.signal, stopWhen: stepCountIs(3) });
  }

  @Get(':id')
  messages(@Param('id') sessionId: string): Promise<UIMessage[]> {
    return this.chats.load({ ...OWNER, sessionId });
  }

  @Get(':id/stream')
  async resume(@Param('id') sessionId: string, @Res() response: NodeResponse | FastifyReply): Promise<void> {
    const running = await this.chats.resume({ ...OWNER, sessionId });
    if (running) await running.pipeTo(response);
    else if ('raw' in response) Object(response).code(204).send();
    else response.writeHead(204).end();
  }

  @Post(':id/stop')
  async stop(@Param('id') sessionId: string): Promise<{ stopped: boolean }> {
    return { stopped: await this.chats.stop({ ...OWNER, sessionId }) };
  }
}

/** An app with chats, over a SQLite file that other instances use as well. */
@Module({})
export class ChatTestModule {
  static over(database: string): DynamicModule {
    return {
      module: ChatTestModule,
      imports: [
        SessionsModule.forRoot({ provider: 'typeorm', database: { database }, isGlobal: true, watchPollMs: 50 }),
        AgentsModule.forRoot({ isGlobal: true, turnTtlMs: 3_000, pollMs: 100, drainMs: 0, partials: { flushMs: 10 } }),
        ChatsModule.forRoot({ tools, pollMs: 100 }),
      ],
      controllers: [ChatController],
    };
  }
}
