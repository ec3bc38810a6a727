import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import type { BaseMessage } from '@langchain/core/messages';
import type { Serialized } from '@langchain/core/load/serializable';
import type { LLMResult } from '@langchain/core/outputs';
import { isPlainObject, Recent } from '../../adapter.js';
import type { AddedMessage } from './channel-writer.js';
import { messageFingerprint } from './serialized-value.js';

/** A message that a model was given, as it was then: graphs change messages in place. */
export interface GivenMessage {
  readonly id: string | undefined;
  readonly fingerprint: string | undefined;
  /** What it says, if it is a system message. */
  readonly instructions: BaseMessage['content'] | undefined;
}

/** What a model was asked. */
export interface AskedRequest {
  readonly messages: readonly GivenMessage[];
  readonly tools: readonly unknown[] | undefined;
  readonly model: string | undefined;
  readonly durationMs: number;
}

/** Many models are asked beside each other, and answers that no message is made of wait here until others push them out. */
const MOST_REQUESTS = 1_000;

/** What models were asked, until what they answered is stored. */
export class AskedRequests {
  readonly #asked = new Recent<AskedRequest>(MOST_REQUESTS);

  note(thread: string, answerId: string, asked: AskedRequest): void {
    this.#asked.set(formatAnswerKey(thread, answerId), asked);
  }

  /** Which of the messages answer which requests. */
  answersIn(thread: string, messages: readonly AddedMessage[]): Map<AddedMessage, AskedRequest> {
    const answers = new Map<AddedMessage, AskedRequest>();
    for (const message of messages) {
      const asked = message.id === undefined ? undefined : this.#asked.get(formatAnswerKey(thread, message.id));
      if (asked) answers.set(message, asked);
    }
    return answers;
  }

  /** These are stored. */
  drop(thread: string, messages: Iterable<AddedMessage>): void {
    for (const { id } of messages) if (id !== undefined) this.#asked.delete(formatAnswerKey(thread, id));
  }
}

function formatAnswerKey(thread: string, answerId: string): string {
  return JSON.stringify([thread, answerId]);
}

type Begun = Omit<AskedRequest, 'durationMs'> & { readonly startedAt: number };

/** Notes what the models of a run are asked as soon as they have answered. What fails or comes from a cache has no answer. */
export class ModelRequestHandler extends BaseCallbackHandler {
  readonly name = 'nestjs-agent-sessions:model-requests';
  /** Otherwise, it is told later, when the graph has gone on. */
  override awaitHandlers = true;
  readonly #begun = new Recent<Begun>(MOST_REQUESTS);

  constructor(
    private readonly asked: AskedRequests,
    private readonly thread: string,
  ) {
    super();
  }

  override copy(): BaseCallbackHandler {
    return this;
  }

  override handleChatModelStart(
    _model: Serialized,
    [messages = []]: BaseMessage[][],
    runId: string,
    _parentRunId?: string,
    params?: Record<string, unknown>,
    _tags?: string[],
    metadata?: Record<string, unknown>,
  ): void {
    const model = metadata?.ls_model_name;
    this.#begun.set(runId, {
      messages: messages.map(givenMessage),
      tools: toolsIn(params?.invocation_params) ?? toolsIn(params?.options),
      model: typeof model === 'string' ? model : undefined,
      startedAt: performance.now(),
    });
  }

  override handleLLMEnd(
    { generations }: LLMResult,
    runId: string,
    _parentRunId?: string,
    _tags?: string[],
    params?: Record<string, unknown>,
  ): void {
    const begun = this.#begun.get(runId);
    this.#begun.delete(runId);
    if (!begun || params?.cached === true) return;
    const { startedAt, ...asked } = begun;
    const durationMs = Math.round(performance.now() - startedAt);
    for (const generation of generations.flat()) {
      const { message } = generation as { readonly message?: BaseMessage };
      if (message?.id !== undefined) this.asked.note(this.thread, message.id, { ...asked, durationMs });
    }
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#begun.delete(runId);
  }
}

function givenMessage(message: BaseMessage): GivenMessage {
  const { id, content } = message;
  const instructions = message.getType() === 'system' ? content : undefined;
  return { id, fingerprint: messageFingerprint(message), instructions };
}

/** The tools as they are now, in JSON. */
function toolsIn(params: unknown): unknown[] | undefined {
  const tools = isPlainObject(params) ? params.tools : undefined;
  if (!Array.isArray(tools) || tools.length === 0) return undefined;
  return JSON.parse(JSON.stringify(tools)) as unknown[];
}
