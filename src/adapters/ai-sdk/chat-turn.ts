import type { LanguageModelUsage, UIMessage, UIMessageChunk, UIMessageStreamOptions } from 'ai';
import type { AgentContext } from '../../agents/index.js';
import { InvalidInputError, type Session, type State } from '../../index.js';
import { type Question, type WrappableModel, type WrappedModel, notedModel } from './model-question.js';
import type { StepUsage } from './usage.js';

/** What `streamText` returns, as far as a turn needs it. */
export interface StreamedText {
  toUIMessageStream(
    options?: UIMessageStreamOptions<UIMessage>,
  ): AsyncIterable<UIMessageChunk> | ReadableStream<UIMessageChunk>;
}

/** What answers a message: the result of `streamText`, or of `createUIMessageStream`. */
export type ChatResult = StreamedText | ReadableStream<UIMessageChunk> | AsyncIterable<UIMessageChunk>;

/** Answers the conversation of a turn. */
export type ChatHandler = (turn: ChatTurn) => ChatResult | Promise<ChatResult>;

/**
 * The turn in which a message is answered.
 *
 * @example
 * chats.answer(request, async (turn) =>
 *   streamText({ model, tools, messages: await convertToModelMessages(turn.messages), abortSignal: turn.signal }),
 * );
 */
export class ChatTurn {
  readonly #usage: StepUsage[] = [];
  readonly #questions: Question[] = [];
  #error: unknown;

  constructor(
    private readonly context: AgentContext,
    /** The conversation, with the message to answer: the view of the session, whoever wrote it. */
    readonly messages: UIMessage[],
    /** The id of the answer. */
    readonly messageId: string,
  ) {}

  get session(): Session {
    return this.context.session;
  }

  /** Changes are stored with the next step. */
  get state(): State {
    return this.context.state;
  }

  /** Aborts when the answer is stopped. Pass it to `streamText`. */
  get signal(): AbortSignal {
    return this.context.signal;
  }

  get invocationId(): string {
    return this.context.invocationId;
  }

  /**
   * The model that answers, so that the answer says what it was given: the events, the instructions, the tools, and how long it took.
   * `sessions.getModelRequest` shows it. Middlewares go around it, since it sees what it gets itself.
   *
   * @param model of a provider, and no name of one
   * @example
   * const model = turn.model(openai('gpt-5-mini'));
   * return streamText({ model, messages: await convertToModelMessages(turn.messages), abortSignal: turn.signal });
   */
  model(model: WrappableModel): WrappedModel {
    if (typeof model !== 'object' || model === null)
      throw new InvalidInputError("must be a model of a provider, such as gateway('openai/gpt-5')", 'model');
    return notedModel(model, (question) => void this.#questions.push(question));
  }

  /**
   * The chunks of a result, so that its tokens are counted. For `createUIMessageStream`, and for options.
   *
   * @example
   * return createUIMessageStream({ execute: ({ writer }) => writer.merge(turn.stream(streamText({ … }), { sendSources: true })) });
   */
  stream(result: StreamedText, options: UIMessageStreamOptions<UIMessage> = {}): ReadableStream<UIMessageChunk> {
    // Early versions tell pages what went wrong.
    const { messageMetadata, onError = () => 'An error occurred.' } = options;
    const counted: UIMessageStreamOptions<UIMessage> = {
      ...options,
      onError: (error) => {
        this.#error = error;
        return onError(error);
      },
      messageMetadata: ({ part }) => {
        if (part.type === 'finish-step') this.#note(part.usage, part.response);
        return messageMetadata?.({ part });
      },
    };
    return streamOf(result.toUIMessageStream(counted));
  }

  /** The tokens of the step that ended, once. */
  takeUsage(): StepUsage | undefined {
    return this.#usage.shift();
  }

  /** What the model was asked for the step that begins, once. */
  takeQuestion(): Question | undefined {
    return this.#questions.shift();
  }

  /** The last error of a result, of which the page is told the text alone. */
  get error(): unknown {
    return this.#error;
  }

  #note(usage: LanguageModelUsage, response: unknown): void {
    const { modelId } = (response ?? {}) as { readonly modelId?: unknown };
    this.#usage.push({ usage, modelId: typeof modelId === 'string' ? modelId : undefined });
  }
}

/** The chunks of a result. A handler that answers as outside of a chat, with a response, is told what to return. */
export function chunksOf(result: ChatResult, turn: ChatTurn): ReadableStream<UIMessageChunk> {
  if (result instanceof ReadableStream) return result;
  const { toUIMessageStream, [Symbol.asyncIterator]: chunks } = Object(result) as Partial<
    StreamedText & AsyncIterable<UIMessageChunk>
  >;
  if (typeof toUIMessageStream === 'function') return turn.stream(result as StreamedText);
  if (typeof chunks === 'function') return streamOf(result as AsyncIterable<UIMessageChunk>);
  const given = result instanceof Response ? 'a Response' : typeof result;
  throw new InvalidInputError(`must be what streamText() or createUIMessageStream() returns, not ${given}`, 'answer');
}

function streamOf(
  chunks: AsyncIterable<UIMessageChunk> | ReadableStream<UIMessageChunk>,
): ReadableStream<UIMessageChunk> {
  if (chunks instanceof ReadableStream) return chunks;
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
