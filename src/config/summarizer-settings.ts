import {
  type SettingsOf,
  type Variable,
  defaultsOf,
  flag,
  kindOf,
  matching,
  oneOf,
  seconds,
  secondsUpTo,
  text,
  toVariables,
  wholeNumber,
} from './setting.js';
import { type Rows, variablesIn } from './variable-rows.js';

/** When conversations are summarised, and how. A threshold of 0 is off. */
export interface SummarizerSettings {
  /** Whether summaries are written automatically. Requested summaries are always written. */
  readonly autoSummarize: boolean;
  /** Whether this process only notes which summaries are due, and other processes write them. */
  readonly leaveToOthers: boolean;
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
  /** More events of one branch than this that no summary covers: it then gets a summary of its own, by itself. */
  readonly branchEvents: number;
  /** At least this many of the newest events are not summarised. */
  readonly keepRecentEvents: number;
  /** Maximum length of a summary in characters. A longer text is cut. */
  readonly maxSummaryLength: number;
  /** How many parts a summary may have. A new part leaves the earlier ones as they are; when it is full, all are written anew as one. */
  readonly segments: number;
  /** Maximum length of the conversation that a model gets at once. The rest is for the next call. */
  readonly maxInputLength: number;
  /** The task for the model, with `{conversation_text}` and, if wanted, `{previous_summary}`, `{max_summary_length}`. */
  readonly prompt?: string | undefined;
  /** The task of writing one more part, with the same placeholders. Needed beside `prompt` if `segments` is more than 1. */
  readonly segmentPrompt?: string | undefined;
  /** How many summaries one process writes at the same time. */
  readonly concurrency: number;
  /** Timeout of a call to the model. */
  readonly timeoutSeconds: number;
  /** How often this process takes due sessions from the agenda; 0 = never. */
  readonly sweepIntervalSeconds: number;
  /** How long a closing app waits for running summaries. */
  readonly shutdownSeconds: number;
}

const template = kindOf(
  'text with {conversation_text}, where the conversation goes',
  (value) => text.fits(value) && String(value).includes('{conversation_text}'),
);

/** A generous maximum. Twice as long still fits into a timer of Node. */
const LONGEST_WAIT_SECONDS = 1_000_000;

const timeout = secondsUpTo(LONGEST_WAIT_SECONDS, { canBeZero: false });
const shutdownTime = secondsUpTo(LONGEST_WAIT_SECONDS, { canBeZero: true });

export const SUMMARIZER = {
  autoSummarize: { kind: flag, default: true, meaning: 'whether summaries are written by themselves' },
  leaveToOthers: {
    kind: flag,
    default: false,
    meaning: 'whether this process only notes what is due, and others of the same store write it',
  },
  turns: {
    kind: wholeNumber(),
    default: 50,
    meaning: 'more turns of the user than this, since the last summary; 0 = off, here as below',
  },
  events: { kind: wholeNumber(), default: 0, meaning: 'more events than this' },
  contentLength: { kind: wholeNumber(), default: 40_000, meaning: 'more characters of text than this' },
  tokens: { kind: wholeNumber(), default: 0 },
  idleSeconds: { kind: seconds, default: 0, meaning: 'nothing appended for longer than this' },
  importantLength: { kind: wholeNumber(), default: 0 },
  match: { kind: oneOf('any', 'all'), default: 'any' },
  branchEvents: {
    kind: wholeNumber(),
    default: 0,
    meaning: 'more events of one branch than this, which then gets a summary of its own',
  },
  keepRecentEvents: {
    kind: wholeNumber(),
    default: 10,
    meaning: 'newest events that stay as they are, at least',
  },
  maxSummaryLength: { kind: wholeNumber(1), default: 2_000 },
  segments: { kind: wholeNumber(1, 20), default: 1 },
  maxInputLength: { kind: wholeNumber(1), default: 60_000 },
  prompt: { kind: template },
  segmentPrompt: { kind: template },
  concurrency: { kind: wholeNumber(1), default: 4 },
  timeoutSeconds: { kind: timeout, default: 60, meaning: 'how long a model may take' },
  sweepIntervalSeconds: { kind: seconds, default: 60 },
  shutdownSeconds: { kind: shutdownTime, default: 10, meaning: 'how long a closing app waits for models' },
} as const satisfies SettingsOf<SummarizerSettings>;

const { prompt: _, segmentPrompt: _segment, ...withoutPrompts } = SUMMARIZER;

/** All but the prompts, which have no value as defaults. */
const SUMMARIZER_WITHOUT_PROMPTS = withoutPrompts;
type SettingsWithoutPrompts = Omit<SummarizerSettings, 'prompt' | 'segmentPrompt'>;

/** After 50 turns, or 40,000 characters of text, whichever comes first. */
export const DEFAULT_SUMMARIZER: SummarizerSettings = defaultsOf<SettingsWithoutPrompts>(SUMMARIZER_WITHOUT_PROMPTS);

/** The address of a model with OpenAI's `chat/completions` API. */
export interface ModelAddress {
  /** As far as `/chat/completions`, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
}

export const MODEL_ADDRESS = {
  baseUrl: {
    kind: kindOf(
      'http://… or https://…, as far as /chat/completions and without a password',
      (value) => /^https?:\/\/[^\s@]+$/.test(String(value)) && URL.canParse(String(value)),
    ),
    isSecret: true,
  },
  model: { kind: text },
  apiKey: {
    kind: matching(/^[\t\u0020-\u007e\u0080-\u00ff]*$/, 'one line of Latin characters, as a header holds them'),
    isSecret: true,
  },
} as const satisfies SettingsOf<ModelAddress>;

/** The model that writes the summaries. */
export const MODEL_ROWS = {
  baseUrl: {
    ...MODEL_ADDRESS.baseUrl,
    name: 'SUMMARIZER_MODEL_URL',
    meaning: 'URL of a model with the `chat/completions` API, which needs `ai` and `@ai-sdk/openai-compatible`',
    otherwise: 'sentences are picked, without any model',
  },
  model: {
    ...MODEL_ADDRESS.model,
    name: 'SUMMARIZER_MODEL',
    meaning: 'with `SUMMARIZER_MODEL_URL`, which needs it',
  },
  apiKey: { ...MODEL_ADDRESS.apiKey, name: 'SUMMARIZER_MODEL_KEY', meaning: 'with `SUMMARIZER_MODEL_URL`' },
} as const satisfies Rows;

/** All variables of summaries, in the order of the docs. */
export const SUMMARIZER_VARIABLES: readonly Variable[] = [
  ...toVariables('', 'summarizer', SUMMARIZER),
  ...variablesIn(MODEL_ROWS, 'summarizer.modelAt'),
];
