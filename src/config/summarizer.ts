/** When conversations are summarised, and how. A threshold of 0 is off. */
export interface SummarizerSettings {
  /** Whether summaries are written automatically. Requested summaries are always written. */
  readonly autoSummarize: boolean;
  /** More turns of the user than this, since the last summary. */
  readonly turns: number;
  /** More events than this. */
  readonly events: number;
  /** More characters of text than this. */
  readonly contentLength: number;
  /** More tokens than this, as far as `usageMetadata` reports them. */
  readonly tokens: number;
  /** Nothing appended for longer than this. */
  readonly idleSeconds: number;
  /** A new event with a part of more characters than this. */
  readonly importantLength: number;
  /** Whether one threshold is enough, or all have to be met. */
  readonly match: 'any' | 'all';
  /** At least this many of the newest events are not summarised. */
  readonly keepRecentEvents: number;
  /** Maximum length of a summary in characters. A longer text is cut. */
  readonly maxSummaryLength: number;
  /** Maximum length of the conversation that a model gets at once. The rest is for the next call. */
  readonly maxInputLength: number;
  /** The task for the model, with `{conversation_text}` and, if wanted, `{previous_summary}`, `{max_summary_length}`. */
  readonly prompt?: string | undefined;
  /** How many summaries one process writes at the same time. */
  readonly concurrency: number;
  /** Timeout of a call to the model. */
  readonly timeoutSeconds: number;
  /** How often this process takes due sessions from the agenda; 0 = never. */
  readonly sweepIntervalSeconds: number;
  /** How long a closing app waits for running summaries. */
  readonly shutdownSeconds: number;
}

/** After 50 turns, or 40,000 characters of text, whichever comes first. */
export const DEFAULT_SUMMARIZER: SummarizerSettings = {
  autoSummarize: true,
  turns: 50,
  events: 0,
  contentLength: 40_000,
  tokens: 0,
  idleSeconds: 0,
  importantLength: 0,
  match: 'any',
  keepRecentEvents: 10,
  maxSummaryLength: 2_000,
  maxInputLength: 60_000,
  concurrency: 4,
  timeoutSeconds: 60,
  sweepIntervalSeconds: 60,
  shutdownSeconds: 10,
};

/** Longer than anybody waits, and short enough for a timer of Node twice over: one that is too long goes off at once. */
export const LONGEST_WAIT_SECONDS = 1_000_000;

/** Where a model is that speaks OpenAI's `chat/completions`. */
export interface ModelAddress {
  /** As far as `/chat/completions`, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
}
