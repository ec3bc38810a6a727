// A graph of LangGraph whose threads are sessions: one line in `compile`. The conversation can be read by everything else.
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { toMessages } from 'nestjs-agent-sessions/agents';
import { SessionSaver, StaleThreadError } from 'nestjs-agent-sessions/langgraph';

@Injectable()
class Support {
  readonly saver: SessionSaver;
  readonly #graph;

  constructor(sessions: SessionService) {
    const model = new FakeListChatModel({ responses: ['Hello Ann!', 'It is on its way.', 'Tomorrow.'] });
    this.saver = new SessionSaver({ sessions, appName: 'shop', userId: 'ann' });
    this.#graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'model')
      .compile({ checkpointer: this.saver });
  }

  /** Messages of a thread wait for each other, in all processes. */
  async reply(threadId: string, text: string): Promise<string> {
    const config = { configurable: { thread_id: threadId } };
    const run = this.saver.inTurn(
      config,
      (inTurn) => this.#graph.invoke({ messages: [new HumanMessage(text)] }, inTurn),
      { waitMs: 10_000 },
    );
    return (await run).messages.at(-1)?.text ?? '';
  }

  /** Two runs without turns: the one that comes late is refused. */
  async race(threadId: string): Promise<void> {
    const config = { configurable: { thread_id: threadId } };
    const state = await this.#graph.getState(config);
    const late = await this.saver.getTuple(config);
    await this.#graph.updateState(config, { messages: [new AIMessage('Anything else?')] });
    try {
      if (late)
        await this.saver.put(
          late.config,
          { ...late.checkpoint, id: 'late' },
          { source: 'loop', step: 9, parents: {} },
          {},
        );
    } catch (error) {
      console.log(
        error instanceof StaleThreadError ? 'the late run is refused' : error,
        'at step',
        state.metadata?.step,
      );
    }
  }
}

@Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })], providers: [Support] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const support = app.get(Support);
console.log(await support.reply('chat-1', 'Hello'));
console.log(
  await Promise.all(['Where is my order?', 'When will it come?'].map((text) => support.reply('chat-1', text))),
);
await support.race('chat-1');

const session = await app.get(SessionService).getSession({ appName: 'shop', userId: 'ann', sessionId: 'chat-1' });
for (const { role, content } of toMessages(session?.events ?? [], { format: 'openai' })) console.log(role, content);
await app.close();
