import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { type Agent, type AgentContext, AgentHandler, type RunHandler } from '../../../../src/agents/index.js';
import { agUiRequestOf } from '../../../../src/adapters/ag-ui/index.js';
import { call, partial, text } from '../../../agents/support/handlers.js';

/** Lets the agent go on when it waits. */
export const gate = { open: (): void => undefined, opened: Promise.resolve() };

export function closeGate(): void {
  gate.opened = new Promise<void>((resolve) => (gate.open = resolve));
}

/** The messages that a model would have been given, as text. */
export const asked: string[] = [];

/** An approval that asks for an amount, and expires. */
const IN_AN_HOUR = { schema: z.object({ euros: z.number() }), expiresInMs: 3_600_000 };

/** Does what it is told. */
@Injectable()
@AgentHandler({ app: 'shop', name: 'support' })
export class Support implements Agent {
  async *run(context: AgentContext): ReturnType<RunHandler> {
    const [part] = context.message.parts ?? [];
    const words = part?.text ?? '';
    const { tools } = agUiRequestOf(context);
    if (words === 'fail') throw new Error('a secret');
    if (words === 'model') {
      const request = context.request({ instructions: 'Be brief.', format: 'openai' });
      asked.push(JSON.stringify(request.messages));
      yield request.answered({ ...text('Well.'), modelVersion: 'm-1' });
      return;
    }
    if (words === 'slowly') {
      yield partial('Half ');
      await Promise.race([gate.opened, new Promise((resolve) => context.signal.addEventListener('abort', resolve))]);
      yield partial('an ');
      yield text('Half an answer.');
      return;
    }
    if (words === 'think') {
      yield { content: { role: 'model', parts: [{ text: 'Hm', thought: true }] }, partial: true };
      context.state.mood = 'calm';
      yield {
        content: { role: 'model', parts: [{ text: 'Hm, ok.', thought: true }, { text: 'Done.' }] },
        actions: { stateDelta: { 'user:lang': 'en', 'a/b': 1 }, stateRemovals: ['draft'] },
      };
      return;
    }
    if (words === 'weather' && context.openCalls.length === 0 && !context.isResumed) {
      yield call('c1', 'weather');
    }
    if (words.startsWith('refund') && !context.isResumed) yield call('c1', 'refund');
    if (context.openCalls.length > 0) {
      yield await context.callTools({
        weather: async () => ({ sun: true }),
        refund: async (_args, tool) =>
          tool.requestApproval({
            hint: 'Refund?',
            payload: { euros: 9 },
            ...(words === 'refund in an hour' && IN_AN_HOUR),
          }),
      });
    }
    if (words === 'paint' && tools[0]) {
      const functionCall = { id: 'front-1', name: tools[0].name, args: { color: 'red' } };
      yield { content: { role: 'model', parts: [{ functionCall }] }, longRunningToolIds: ['front-1'] };
      return;
    }
    const response = part?.functionResponse?.response;
    yield text(response ? `result: ${JSON.stringify(response)}` : `echo: ${words}`);
  }
}
