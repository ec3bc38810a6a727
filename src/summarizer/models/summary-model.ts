import type { Content } from '../../sessions/domain/event/content.js';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';

/** One event of a conversation, as a model reads it. */
export interface ConversationLine {
  readonly author: string;
  /** The text of the event. Tool calls and responses are shortened. */
  readonly text: string;
}

/**
 * The last request to the model of the conversation. A call that begins with the same bytes and goes on with `later` and `task` finds them
 * in the vendor's cache of prompts.
 */
export interface LastRequest {
  /** As the model got them. Missing: none. */
  readonly instructions?: string | Content | undefined;
  readonly tools?: readonly unknown[] | undefined;
  /** The events that it was given, in this order. With the options of that request, `toMessages` makes the same messages of them. */
  readonly given: readonly LoggedEvent[];
  /** The events after them, the answer among them. */
  readonly later: readonly LoggedEvent[];
  /** What the model answered: `author` and `branch` say which agent that is. */
  readonly answer: LoggedEvent;
  /** The task, as the last message: which part of the conversation to summarise, and how. */
  readonly task: string;
}

/** The input of a model. */
export interface SummaryRequest {
  /** The whole task as text, for models that read text. It holds the conversation, fenced as data. */
  readonly prompt: string;
  /** The same conversation, line by line, for models that need no prompt. */
  readonly conversation: readonly ConversationLine[];
  readonly previousSummary?: string | undefined;
  /** Whether the previous summary stays as it is, and the answer is added to it. Otherwise the answer takes it in. */
  readonly isSegment?: boolean | undefined;
  /** Maximum length of a summary in characters. A longer text is cut. */
  readonly maxSummaryLength: number;
  /**
   * For a model with {@link SummaryModel.extendsLastRequest}. Missing if no request is known that had all that is to be summarised, or if a
   * hook changed the conversation: then there is the prompt.
   */
  readonly lastRequest?: LastRequest | undefined;
}

/** The output of a model. */
export interface SummaryAnswer {
  readonly text: string;
  /** Why the model stopped early. Such an answer is not used as a summary. */
  readonly unfinished?: string | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/**
 * Writes summaries. It may fail, hang or return nonsense: the answer is only used as text, a failure changes nothing and
 * is retried later.
 *
 * @example
 * const model: SummaryModel = {
 *   name: 'in-house',
 *   summarize: async ({ prompt }, { signal }) => ({ text: await ask(prompt, signal) }),
 * };
 */
export interface SummaryModel {
  /** Stored with each summary. */
  readonly name: string;
  /** Whether it wants {@link SummaryRequest.lastRequest}. Default: no, and nothing is read for it. */
  readonly extendsLastRequest?: boolean | undefined;
  /** Throws soon after `signal` is aborted. */
  summarize(request: SummaryRequest, options: { readonly signal: AbortSignal }): Promise<SummaryAnswer>;
}

/** The codes are part of the contract: programs may compare them, and they never change. */
export type SummaryModelErrorCode =
  /** The options of the model are invalid. No request was sent. */
  | 'MISCONFIGURED'
  /** No connection, or a broken one. */
  | 'UNREACHABLE'
  | 'RATE_LIMITED'
  /** The provider rejects the request: a wrong key, an unknown model, a text that is too long. */
  | 'REJECTED'
  | 'PROVIDER_FAILED'
  /** The response has an unexpected format. */
  | 'BAD_ANSWER';

/**
 * A call to a model failed. The message holds a status and a short reason, never a key, an address or the conversation.
 * The error of the provider or its library is not attached, because it often holds all three.
 *
 * @example
 * try {
 *   await model.summarize(request, { signal });
 * } catch (error) {
 *   if (error instanceof SummaryModelError && error.code === 'RATE_LIMITED') later();
 *   else throw error;
 * }
 */
export class SummaryModelError extends Error {
  constructor(
    readonly code: SummaryModelErrorCode,
    message: string,
    readonly status?: number,
  ) {
    super(message);
    this.name = 'SummaryModelError';
  }
}
