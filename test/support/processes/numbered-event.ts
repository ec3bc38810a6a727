import type { EventInput } from '../../../src/sessions/domain/event/event.js';

/**
 * The event `number` of a writer, always with the same content. It reports `number` tokens, sets a counter in each scope, and
 * adds a new key to each scope. Every other one also sets or removes a flag, and changes the metadata that filters use: the
 * others have only what stores write without reading before.
 */
export function numberedEvent(writer: string, number: number): EventInput {
  const isOdd = number % 2 === 1;
  const place = number % 4;
  return {
    id: `${writer}-${number}`,
    author: isOdd ? 'user' : 'agent',
    content: { role: isOdd ? 'user' : 'model', parts: [{ text: `${writer} says ${number}` }] },
    usageMetadata: { totalTokenCount: number },
    actions: {
      stateDelta: {
        [`last-${writer}`]: number,
        [`${writer}-${number}`]: number,
        [`user:last-${writer}`]: number,
        [`user:${writer}-${number}`]: number,
        [`app:last-${writer}`]: number,
        [`app:${writer}-${number}`]: number,
        ...(place === 1 && { flag: number, 'user:flag': number }),
      },
      ...(place === 1 && { metadataDelta: { status: 'flagged', tags: { add: ['flag'] } } }),
      ...(place === 2 && {
        stateRemovals: ['flag', 'user:flag'],
        metadataDelta: { status: 'free', tags: { remove: ['flag'] } },
      }),
    },
  };
}

/** Consecutive numbered events. */
export function numberedEvents(writer: string, from: number, count: number): EventInput[] {
  return Array.from({ length: count }, (_, index) => numberedEvent(writer, from + index));
}
