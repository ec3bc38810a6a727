/** One event of a conversation, as a model is to read it. */
export interface ConversationLine {
  readonly author: string;
  /** What was said, and calls and answers of tools in short. */
  readonly text: string;
}

/** What a model is asked for. */
export interface SummaryRequest {
  /** The whole task as text, for models that read text: the conversation is in it, fenced as data. */
  readonly prompt: string;
  /** The same conversation, line by line, for whoever needs no prompt. */
  readonly conversation: readonly ConversationLine[];
  readonly previousSummary?: string | undefined;
  /** Characters that a summary may have; what is longer is cut. */
  readonly maxSummaryLength: number;
}

/** What a model answered. */
export interface SummaryAnswer {
  readonly text: string;
  /** Why the model stopped where it did not finish: such an answer is not taken for a summary. */
  readonly unfinished?: string | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/**
 * Writes summaries. It may fail, hang, or answer nonsense: the answer is only ever text, a failure changes nothing and
 * is tried again later.
 *
 * @example
 * const model: SummaryModel = {
 *   name: 'in-house',
 *   summarize: async ({ prompt }, { signal }) => ({ text: await ask(prompt, signal) }),
 * };
 */
export interface SummaryModel {
  /** Is kept with each summary. */
  readonly name: string;
  /** Ends soon after `signal` is aborted, by throwing. */
  summarize(request: SummaryRequest, options: { readonly signal: AbortSignal }): Promise<SummaryAnswer>;
}
