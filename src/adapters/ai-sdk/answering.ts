import { setTimeout as delay } from 'node:timers/promises';
import type { UIMessageChunk } from 'ai';
import { type AgentContext, invocationOfMessage, type RunHandler } from '../../agents/index.js';
import type { EventInput, LoggedEvent } from '../../index.js';
import { AskedEvents, type RenderingOptions } from './asked-events.js';
import { type ChatHandler, ChatTurn, chunksOf } from './chat-turn.js';
import { sdkFieldsOf } from './sdk-fields.js';
import { type StepEvent, StepRecorder } from './step-recorder.js';
import { isToolPart, toolNameOf } from './step-events.js';
import { formatAnswerMessageId, toChatEntries } from './ui-messages.js';

/** After as long a silence, what tools work on is stored. */
const PAUSE_MS = 100;

/** How a message is answered. */
export interface Answering extends RenderingOptions {
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
    const shown = [...context.session.events];
    const messages = toChatEntries(shown, options).map(({ message }) => message);
    const tools = messages.flatMap(({ parts }) => parts.filter(isToolPart));
    const listener = context.invocationId === options.invocationId ? options.listener : undefined;
    listener?.begin();
    const continues = continuedMessage(context);
    const continued = messages.find(({ id }) => id === continues);
    // The page may answer one after the other.
    if (continued?.parts.some((part) => isToolPart(part) && isWaiting(part.state))) return;
    const turn = new ChatTurn(context, messages, continues ?? formatAnswerMessageId(context.invocationId));
    const recorder = new StepRecorder({
      message: continues,
      calls: new Map(tools.map((part) => [part.toolCallId, toolNameOf(part)])),
      pageTools: options.pageTools,
      takeUsage: () => turn.takeUsage(),
      takeQuestion: () => turn.takeQuestion(),
    });
    // When an event is stored, those before it have their numbers.
    const askedEvents = new AskedEvents(options);
    const asked = (step: StepEvent): Promise<EventInput> => askedEvents.withRequest(step, seenBy(shown, context));
    const reader = chunksOf(await options.handler(turn), turn).getReader();
    // One event is held back: the last one ends the turn in its own commit.
    let held: StepEvent | undefined;
    try {
      for (;;) {
        const next = reader.read();
        if (recorder.hasWaiting && (await isSilent(next))) {
          for (const event of recorder.takeSoFar()) {
            if (held) yield await asked(held);
            held = undefined;
            yield await asked(event);
          }
        }
        const { done, value } = await next;
        if (done) break;
        const events = recorder.add(value);
        for (const step of events) {
          if (held) yield await asked(held);
          held = undefined;
          if (step.event.partial === true) yield step.event;
          else held = step;
        }
        listener?.chunk(value);
      }
      const rest = recorder.error === undefined ? recorder.takeStep() : [];
      for (const step of [...rest, ...recorder.takeAsked()]) {
        if (held) yield await asked(held);
        held = step;
      }
      const last = held && (await asked(held));
      if (recorder.error === undefined) return recorder.withMetadata(last);
      if (last) yield last;
    } finally {
      void reader.cancel().catch(() => undefined);
    }
    throw new AnswerFailedError(recorder.error, { cause: turn.error });
  };
}

/** What a model can have been given: what there was at the beginning, and what the answer added. */
function seenBy(shown: readonly LoggedEvent[], { session, invocationId }: AgentContext): LoggedEvent[] {
  const last = shown.at(-1)?.seq ?? 0;
  return [...shown, ...session.events.filter((event) => event.seq > last && event.invocationId === invocationId)];
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
