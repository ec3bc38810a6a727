import type { EventInput } from '../../src/index.js';

export const KEY = { appName: 'shop', userId: 'ann' };

const TEXT = 'the order left the warehouse on time and the courier confirmed a delivery window '.repeat(10);

/** An event of 1,100 bytes, as an agent writes it. */
export function eventOf(number: number): EventInput {
  return {
    id: `event-${number}`,
    author: number % 2 === 0 ? 'user' : 'agent',
    timestamp: 1_763_700_000_000 + number,
    content: { role: 'user', parts: [{ text: `${number}: ${TEXT}` }] },
    actions: { stateDelta: { step: number, stage: 'delivery' } },
    usageMetadata: { promptTokenCount: 310, candidatesTokenCount: 120, totalTokenCount: 430 },
    customMetadata: { model: 'm', trace: `trace-${number}` },
  };
}
