import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { UIMessageChunk } from 'ai';
import { AgentFailedError, type AgentRun, isDiscard, type RunResult } from '../../agents/index.js';
import { AnswerChunks } from './answer-chunks.js';
import { AnswerFailedError, type AnswerListener } from './answering.js';
import { ChatStream } from './chat-stream.js';
import { BEGINS_ANEW } from './followed-answer.js';
import type { ReadingOptions } from './event-items.js';

/** How long a response waits for a run that cannot begin, so that it can be refused. */
const BEGIN_MS = 250;

/** What pages are told about failures. Details may be secret. */
const FAILED = 'An error occurred.';

/**
 * The answer to a message. It goes on if nobody reads it.
 *
 * @example
 * const answer = await chats.answer(request, handler);
 * await answer.pipeTo(response);
 */
export class ChatAnswer implements AnswerListener {
  /** Resolves when the answer is stored. Rejects if it could not begin, or failed. */
  readonly result: Promise<RunResult>;
  readonly #stream: ChatStream;
  readonly #chunks: AnswerChunks;
  #finish: UIMessageChunk = { type: 'finish' };
  #isOwn = false;
  #begun: () => void = () => undefined;
  readonly #beginning = new Promise<void>((resolve) => (this.#begun = resolve));

  /** @param start begins the run, which tells its chunks to the listener */
  constructor(
    /** The message that the page gets. */
    readonly messageId: string,
    options: ReadingOptions,
    start: (listener: AnswerListener) => AgentRun,
  ) {
    this.#chunks = new AnswerChunks(messageId, options);
    this.#stream = new ChatStream();
    const run = start(this);
    this.result = run.result;
    void this.#follow(run);
  }

  begin(): void {
    if (this.#chunks.hasSaidPart) this.#beginAnew();
    this.#isOwn = true;
    this.#begun();
  }

  /** A chunk of the handler, as it is. */
  chunk(chunk: UIMessageChunk): void {
    if (chunk.type === 'finish') {
      this.#finish = chunk;
    } else if (chunk.type === 'start') {
      const { messageMetadata } = chunk;
      this.#send(this.#chunks.start());
      if (messageMetadata !== undefined) this.#send([{ type: 'message-metadata', messageMetadata }]);
    } else {
      this.#send([...this.#chunks.start(), chunk]);
    }
  }

  /**
   * The chunks, for one reader.
   * @example return createUIMessageStreamResponse({ stream: answer.stream() });
   */
  stream(): ReadableStream<UIMessageChunk> {
    return this.#stream.readable;
  }

  /**
   * Sends the answer: to a response of Express or Node, or to a reply of Fastify. Throws if the answer cannot begin, before it
   * sends anything.
   *
   * @example await chats.answer(request, handler).pipeTo(response);
   */
  async pipeTo(response: Parameters<ChatStream['pipeTo']>[0]): Promise<void> {
    await this.whenBegun();
    await this.#stream.pipeTo(response);
  }

  /** The same as bytes of server-sent events. */
  bytes(): Readable {
    return this.#stream.bytes();
  }

  /** Waits until the run began, or for a quarter of a second. Throws if it cannot begin. */
  async whenBegun(): Promise<void> {
    await Promise.race([this.#beginning, this.result, delay(BEGIN_MS, undefined, { ref: false })]);
    this.#send(this.#chunks.start());
  }

  /** Events count unless the chunks themselves are there: of a retry, or of a run of another process. */
  async #follow(run: AgentRun): Promise<void> {
    try {
      for await (const event of run) {
        this.#begun();
        if (this.#isOwn) continue;
        if (isDiscard(event) && this.#chunks.hasSaidPart) this.#beginAnew();
        this.#send(this.#chunks.add(event));
      }
      const { status } = await run.result;
      if (!this.#isOwn) this.#send(this.#chunks.end());
      this.#send([
        ...this.#chunks.start(),
        status === 'completed' || status === 'waiting' ? this.#finish : { type: 'abort' },
      ]);
    } catch (error) {
      // The page knows of errors of the model already.
      if (!(error instanceof AgentFailedError && error.cause instanceof AnswerFailedError))
        this.#send([...this.#chunks.start(), { type: 'error', errorText: FAILED }]);
    } finally {
      this.#stream.end();
    }
  }

  /** The page has a part of an answer that begins anew. It cannot be taken back, and the page resumes the answer. */
  #beginAnew(): void {
    this.#send([{ type: 'error', errorText: BEGINS_ANEW }]);
    this.#stream.end();
  }

  #send(chunks: readonly UIMessageChunk[]): void {
    for (const chunk of chunks) this.#stream.send(chunk);
  }
}
