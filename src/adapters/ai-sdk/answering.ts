import { setTimeout as delay } from 'node:timers/promises';
import type { UIMessageChunk } from 'ai';
import { type AgentContext, invocationOfMessage, type RunHandler } from '../../agents/index.js';
import type { EventInput } from '../../index.js';
import { type ChatHandler, ChatTurn, chunksOf } from './chat-turn.js';
import type { ReadingOptions } from './event-items.js';
import { sdkFieldsOf } from './sdk-fields.js';
import { StepRecorder } from './step-recorder.js';
import { isToolPart, toolNameOf } from './step-events.js';
import { answerIdOf, entriesOf } from './ui-messages.js';

/** After as long a silence, what tools work on is stored. */
const PAUSE_MS = 100;

/** How a message is answered. */
export interface Answering extends ReadingOptions {
  /** The run of the request. Its handler may also be called for messages that another process left. */
  readonly invocationId: string;
  readonly pageTools: ReadonlySet<string>;
  readonly handler: ChatHandler;
  /** Gets the chunks as they come. */
  readonly listener: AnswerListener;
}

/** Gets the chunks of an answer of this process. */
export interface AnswerListener {
  /** The handler is about to be called. */
  begin(): void;
  chunk(chunk: UIMessageChunk): void;
}

/**
 * The answer failed. The page knows.
 *
 * @example if (error instanceof AnswerFailedError) return; // reported by `onError` of `streamText`
 */
export class AnswerFailedError extends Error {
  constructor(text: string, options?: ErrorOptions) {
    super(`The answer failed: ${text}`, options);
    this.name = 'AnswerFailedError';
  }
}

/** The handler of a run that stores what a handler of chats streams. */
export function answering(options: Answering): RunHandler {
  return async function* (context: AgentContext): AsyncGenerator<EventInput, EventInput | void, void> {
    const messages = entriesOf(context.session.events, options).map(({ message }) => message);
    const tools = messages.flatMap(({ parts }) => parts.filter(isToolPart));
    const listener = context.invocationId === options.invocationId ? options.listener : undefined;
    listener?.begin();
    const continues = continuedMessage(context);
    const continued = messages.find(({ id }) => id === continues);
    // The page may answer one after the other.
    if (continued?.parts.some((part) => isToolPart(part) && isWaiting(part.state))) return;
    const turn = new ChatTurn(context, messages, continues ?? answerIdOf(context.invocationId));
    const recorder = new StepRecorder({
      message: continues,
      calls: new Map(tools.map((part) => [part.toolCallId, toolNameOf(part)])),
      pageTools: options.pageTools,
      takeUsage: () => turn.takeUsage(),
    });
    const reader = chunksOf(await options.handler(turn), turn).getReader();
    // One event is held back: the last one ends the turn in its own commit.
    let held: EventInput | undefined;
    try {
      for (;;) {
        const next = reader.read();
        if (recorder.hasWaiting && (await isSilent(next))) {
          for (const event of recorder.takeSoFar()) {
            if (held) yield held;
            held = undefined;
            yield event;
          }
        }
        const { done, value } = await next;
        if (done) break;
        const events = recorder.add(value);
        for (const event of events) {
          if (held) yield held;
          held = undefined;
          if (event.partial === true) yield event;
          else held = event;
        }
        listener?.chunk(value);
      }
      const rest = recorder.error === undefined ? recorder.takeStep() : [];
      const asked = recorder.takeAsked();
      for (const event of asked ? [...rest, asked] : rest) {
        if (held) yield held;
        held = event;
      }
      if (recorder.error === undefined) return recorder.withMetadata(held);
      if (held) yield held;
    } finally {
      void reader.cancel().catch(() => undefined);
    }
    throw new AnswerFailedError(recorder.error, { cause: turn.error });
  };
}

/** The message that the answer continues, if the page answered what it asked for. */
function continuedMessage({ session, invocationId }: AgentContext): string | undefined {
  const asked = session.events.find((event) => invocationOfMessage(event) === invocationId);
  return asked && sdkFieldsOf(asked)?.continues;
}

function isWaiting(state: string): boolean {
  return state === 'approval-requested' || state === 'input-available';
}

async function isSilent(next: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  try {
    const pause = delay(PAUSE_MS, true, { signal: over.signal }).catch(() => false);
    return await Promise.race([
      next.then(
        () => false,
        () => false,
      ),
      pause,
    ]);
  } finally {
    over.abort();
  }
}
