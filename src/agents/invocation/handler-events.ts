import { isRecord } from '../../config/setting.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { listEventTexts } from '../../sessions/domain/event/event-inspection.js';
import type { NumberedCall } from '../../sessions/domain/event/open-calls.js';
import type { TurnLog } from '../turn/turn-log.js';
import { type EventInput, keepFilledInTimestamp } from '../../sessions/domain/event/event.js';

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

/** What a handler or a model gave, if it is an event: it may give anything. */
export function eventFrom(
  place: 'handler' | 'model' | 'authored',
  verb: 'yield' | 'return' | 'event',
  given: unknown,
): EventInput {
  const isIterable = isRecord(given) && (Symbol.iterator in given || Symbol.asyncIterator in given);
  if (isRecord(given) && !isIterable) return given;
  const kind = Array.isArray(given) ? 'an array' : isIterable ? 'an iterable' : given === null ? 'null' : typeof given;
  const instead = isIterable ? 'yield* it in an async function*' : `${verb === 'event' ? 'give' : verb} ${EXAMPLE}`;
  throw new InvalidInputError(`is ${kind}, and no event: ${instead}`, `${place}.${verb}`);
}

const EXAMPLE = "{ content: { role: 'model', parts: [{ text: 'Hello' }] } }";

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

/** The handlers of which the log knows. */
const known = new WeakSet<object>();

/**
 * Finds a handler that is called again after an approval, and asks its model first: it says what a tool did before the tool has run.
 * Each handler is told once.
 */
export class EarlyAnswers {
  /** @param waiting the calls that were open when the handler was called again */
  constructor(
    private readonly handler: object,
    private readonly waiting: readonly NumberedCall[],
    private readonly log: Pick<TurnLog, 'report'>,
  ) {}

  /** @param open the calls that are still open */
  check(event: EventInput, open: readonly NumberedCall[]): void {
    if (this.waiting.length === 0 || known.has(this.handler) || listEventTexts(event).length === 0) return;
    const left = this.waiting.find((call) => call.author === event.author && open.includes(call));
    if (!left) return;
    known.add(this.handler);
    this.log.report(new EarlyAnswerWarning(left));
  }
}

/** What the author of a handler reads. */
class EarlyAnswerWarning extends Error {
  constructor({ author, call }: NumberedCall) {
    super(
      `The agent ${JSON.stringify(author)} goes on after an approval, and speaks while its call of ${JSON.stringify(call.name)} has no ` +
        'response. Run open calls first: if (context.openCalls.length > 0) yield await context.callTools(tools). agentLoop() does so.',
    );
    this.name = 'EarlyAnswerWarning';
  }
}
