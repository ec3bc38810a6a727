import { type Event, EventType } from '@ag-ui/core';
import { SessionStream } from '../../../src/adapters/ag-ui/session-stream.js';
import { KEY } from '../../agents/support/agent-app.js';
import { REQUEST, halfAnswer } from '../../agents/support/half-answer.js';
import { HeldHandler, partial, text } from '../../agents/support/handlers.js';
import { firstStore } from '../../support/stores.js';

it('A client of AG-UI that follows half an answer of a dead process takes it back before the new one begins', async () => {
  const half = await halfAnswer(firstStore[0], [partial('The capital ')]);
  const { sessions, agents } = half.living;
  const left = new AbortController();
  const from = { position: '0', run: undefined, open: {} };
  const stream = new SessionStream({ sessions, key: KEY, signal: left.signal }, from);
  const events: Event[] = [];
  const shown = () => {
    const texts = new Map<string, string>();
    for (const event of events) {
      if (event.type === EventType.MESSAGES_SNAPSHOT) {
        texts.clear();
        for (const { id, role, content } of event.messages) if (role === 'assistant') texts.set(id, String(content));
      }
      if (event.type !== EventType.TEXT_MESSAGE_CONTENT) continue;
      texts.set(event.messageId, (texts.get(event.messageId) ?? '') + event.delta);
    }
    return [...texts.values()].join(' | ');
  };
  const following = stream.follow();
  const untilShown = async (words: string): Promise<void> => {
    while (!shown().includes(words)) {
      const { value } = await following.next();
      if (value) events.push(value.event);
    }
  };
  await untilShown('The capital');
  half.die();
  const held = new HeldHandler([partial('Paris, ')], [text('Paris, of course')]);
  const run = agents.run(REQUEST, held.handler);
  await untilShown('Paris');
  expect(shown()).not.toContain('The capital');
  held.release();
  await untilShown('of course');
  expect(shown()).not.toContain('The capital');
  await run.result;
  left.abort();
  await following.return(undefined);
  await stream.close();
  await half.close();
});
