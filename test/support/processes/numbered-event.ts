import type { EventInput } from '../../../src/sessions/domain/event.js';

/**
 * The event `number` of a writer, always with the same content. It sets a counter in each scope, adds a
 * new key to each scope, sets and removes a flag, and changes the metadata that filters use.
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
      metadataDelta: { status: isOdd ? 'odd' : 'even', tags: isOdd ? { add: ['odd'] } : { remove: ['odd'] } },
    },
  };
}

/** Consecutive numbered events. */
export function numberedEvents(writer: string, from: number, count: number): EventInput[] {
  return Array.from({ length: count }, (_, index) => numberedEvent(writer, from + index));
}
