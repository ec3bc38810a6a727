import type { UIMessageChunk } from 'ai';
import { ChatSessions } from '../../../src/adapters/ai-sdk/index.js';
import { KEY } from '../../agents/support/agent-app.js';
import { REQUEST, halfAnswer } from '../../agents/support/half-answer.js';
import { HeldHandler, partial, text } from '../../agents/support/handlers.js';
import { firstStore } from '../../support/stores.js';
import { saidIn } from './support/chat-app.js';

it('A page that resumes half an answer of a dead process resumes the new one from its beginning', async () => {
  const half = await halfAnswer(firstStore[0], [partial('The capital ')]);
  const { sessions, agents } = half.living;
  const resume = async (pollMs: number) => {
    const stream = await new ChatSessions({ sessions, agents, pollMs }).resume(KEY);
    const reader = stream?.readable.getReader();
    const chunks: UIMessageChunk[] = [];
    const read = async (isEnough = (): boolean => false): Promise<void> => {
      while (!isEnough()) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done) return;
        if (value) chunks.push(value);
      }
    };
    return { chunks, read };
  };
  // It looks so rarely that it does not see that nobody holds the turn.
  const first = await resume(3_600_000);
  await first.read(() => saidIn(first.chunks) !== '');
  half.die();
  const held = new HeldHandler([partial('Paris, ')], [text('Paris, of course')]);
  const run = agents.run(REQUEST, held.handler);
  await first.read();
  expect(saidIn(first.chunks)).toBe('The capital ');
  expect(first.chunks.at(-1)).toEqual({ type: 'error', errorText: 'The answer begins anew: resume it.' });
  await held.started;
  const second = await resume(50);
  held.release();
  await second.read();
  expect(saidIn(second.chunks)).toBe('Paris, of course');
  expect(second.chunks.at(-1)).toEqual({ type: 'finish' });
  await run.result;
  await half.close();
});
