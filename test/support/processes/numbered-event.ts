import type { EventInput } from '../../../src/sessions/domain/event.js';

/**
 * The event `number` of a writer; made the same way wherever it is needed. It counts in each scope, leaves a
 * key of its own in each, and switches a flag on and off.
 */
export function numberedEvent(writer: string, number: number): EventInput {
  const isOdd = number % 2 === 1;
  return {
    id: `${writer}-${number}`,
    author: isOdd ? 'user' : 'agent',
    content: { role: isOdd ? 'user' : 'model', parts: [{ text: `${writer} says ${number}` }] },
    actions: {
      stateDelta: {
        [`last-${writer}`]: number,
        [`${writer}-${number}`]: number,
        [`user:last-${writer}`]: number,
        [`user:${writer}-${number}`]: number,
        [`app:last-${writer}`]: number,
        [`app:${writer}-${number}`]: number,
        ...(isOdd && { flag: number, 'user:flag': number }),
      },
      stateRemovals: isOdd ? [] : ['flag', 'user:flag'],
    },
  };
}

/** So many of them in a row. */
export function numberedEvents(writer: string, from: number, count: number): EventInput[] {
  return Array.from({ length: count }, (_, index) => numberedEvent(writer, from + index));
}
