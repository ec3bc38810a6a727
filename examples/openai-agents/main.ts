// An agent of the OpenAI Agents SDK whose session is in the store: an approval that another process answers, a branch, and tokens.
import { Agent, RunState, Runner, Usage, tool } from '@openai/agents-core';
import { ScriptedModel, assistantMessage, functionCall, modelResponse } from '@openai/agents-core/testing';
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionService, SessionsModule } from 'nestjs-agent-sessions';
import { toMessages } from 'nestjs-agent-sessions/agents';
import { BranchedAgentsSession } from 'nestjs-agent-sessions/openai-agents';
import { z } from 'zod';

const usage = new Usage({ requests: 1, inputTokens: 20, outputTokens: 5, totalTokens: 25 });
const model = new ScriptedModel([
  modelResponse({ output: [functionCall('cancel', { order: 4711 }, { callId: 'c1' })], usage }),
  modelResponse({ output: [assistantMessage('Order 4711 is cancelled.')], usage }),
  modelResponse({ output: [assistantMessage('Which order?')], usage }),
]);
const cancel = tool({
  name: 'cancel',
  description: 'Cancels an order.',
  parameters: z.object({ order: z.number() }),
  needsApproval: true,
  execute: async ({ order }) => ({ cancelled: order }),
});

@Injectable()
class Support {
  readonly #agent = new Agent({ name: 'support', model, tools: [cancel] });
  readonly #runner = new Runner({ tracingDisabled: true });

  constructor(private readonly sessions: SessionService) {}

  session(sessionId: string): BranchedAgentsSession {
    return new BranchedAgentsSession({
      sessions: this.sessions,
      appName: 'shop',
      userId: 'ann',
      sessionId,
      agent: 'support',
    });
  }

  /** The answer, or the run as text if it waits for an approval. */
  async reply(session: BranchedAgentsSession, text: string): Promise<string> {
    const result = await this.#runner.run(this.#agent, text, { session });
    return result.interruptions.length > 0 ? result.state.toString() : (result.finalOutput ?? '');
  }

  async approve(session: BranchedAgentsSession, waiting: string): Promise<string> {
    const state = await RunState.fromString(this.#agent, waiting);
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    return (await this.#runner.run(this.#agent, state, { session })).finalOutput ?? '';
  }
}

@Module({ imports: [SessionsModule.forRoot({ provider: 'memory' })], providers: [Support] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const [support, sessions] = [app.get(Support), app.get(SessionService)];
const waiting = await support.reply(support.session('chat-1'), 'Cancel order 4711');
const session = support.session('chat-1');
console.log(await support.approve(session, waiting));

await session.createBranchFromTurn(1, 'other');
console.log(await support.reply(session, 'Cancel my order'));
for (const { name, userTurns, isCurrent } of await session.listBranches()) console.log(name, userTurns, isCurrent);
await session.switchToBranch('main');
console.log(await session.getTurnUsage(1), await session.getToolUsage());

const stored = await sessions.getSession({ appName: 'shop', userId: 'ann', sessionId: 'chat-1' });
console.log(JSON.stringify(toMessages(stored?.events ?? [], { format: 'openai' }), null, 1));
await app.close();
