import { isRecord } from '../../config/setting.js';
import { InvalidInputError } from '../../sessions/domain/errors.js';
import { type EventInput, keepFilledInTimestamp } from '../../sessions/domain/event.js';

/** What a handler gives, one after the other. */
export type HandlerIterator = AsyncIterator<EventInput, EventInput | void, void>;

/** A handler that throws at once fails like one that throws later. */
export function iteratorOf(handler: () => unknown): HandlerIterator {
  async function* started(): AsyncGenerator<EventInput, EventInput | void, void> {
    const events = handler();
    if (!isAsyncIterable(events)) {
      throw new InvalidInputError('must return an async iterable of events: write it as an async function*', 'handler');
    }
    const iterator = events[Symbol.asyncIterator]() as HandlerIterator;
    return yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return started();
}

function isAsyncIterable(value: unknown): value is AsyncIterable<EventInput> {
  return typeof (value as Partial<AsyncIterable<EventInput>> | null | undefined)?.[Symbol.asyncIterator] === 'function';
}

/** Refuses what is no event: a handler may give anything. */
export function assertIsEvent(event: unknown, verb: 'yield' | 'return'): void {
  if (isRecord(event)) return;
  const kind = Array.isArray(event) ? 'an array' : event === null ? 'null' : typeof event;
  throw new InvalidInputError(
    `is ${kind}, and no event: ${verb} { content: { role: 'model', parts: [{ text: 'Hello' }] } }`,
    `handler.${verb}`,
  );
}

/** The event by this agent, unless it has its own author, and with these fields. */
export function authoredEvent(event: EventInput, agentName: string, fields: EventInput = {}): EventInput {
  const authored = { ...event, ...fields, author: event.author ?? agentName };
  keepFilledInTimestamp(event, authored);
  return authored;
}

/** The next event of a handler, or the reason of the signal, which ends the waiting. */
export async function nextOf(
  events: HandlerIterator,
  signal: AbortSignal,
): Promise<IteratorResult<EventInput, EventInput | void>> {
  signal.throwIfAborted();
  const next = events.next();
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([next, aborted]);
  } finally {
    if (abort) signal.removeEventListener('abort', abort);
    aborted.catch(() => undefined);
    next.catch(() => undefined);
  }
}
