import { DEFAULT_SUMMARIZER, LONGEST_WAIT_SECONDS } from './summarizer.js';
import { type VariableKind, flag, matching, oneOf, seconds, secondsUpTo, text, wholeNumber } from './variable-kinds.js';
import type { Variable } from './variables.js';

/** What begins so is meant for summaries. */
export const SUMMARIZER_PREFIX = 'SUMMARIZER_';

/** A variable for one setting of the summarizer. */
export interface SummarizerVariable extends Variable {
  readonly setting: string;
}

type Row = readonly [setting: keyof typeof DEFAULT_SUMMARIZER | 'prompt', kind: VariableKind, meaning: string];

const ROWS: readonly Row[] = [
  ['autoSummarize', flag, 'whether summaries are written by themselves'],
  ['turns', wholeNumber(), 'more turns of the user than this, since the last summary; 0 = off, here as below'],
  ['events', wholeNumber(), 'more events than this'],
  ['contentLength', wholeNumber(), 'more characters of text than this'],
  ['tokens', wholeNumber(), 'more tokens than this, as `usageMetadata` reports them'],
  ['idleSeconds', seconds, 'nothing appended for longer than this'],
  ['importantLength', wholeNumber(), 'a new event with a part of more characters than this'],
  ['match', oneOf('any', 'all'), 'whether one of these is enough, or all have to be met'],
  ['keepRecentEvents', wholeNumber(), 'newest events that stay as they are, at least'],
  ['maxSummaryLength', wholeNumber(1), 'characters of a summary; a longer one is cut'],
  ['maxInputLength', wholeNumber(1), 'characters of conversation that a model is given at once'],
  ['prompt', text, 'the task for the model; it holds `{conversation_text}` and may hold `{previous_summary}`'],
  ['concurrency', wholeNumber(1), 'concurrent requests to models'],
  ['timeoutSeconds', secondsUpTo(LONGEST_WAIT_SECONDS, { canBeZero: false }), 'how long a model may take'],
  ['sweepIntervalSeconds', seconds, 'how often to look for due summaries that no process has written; 0 = never'],
  [
    'shutdownSeconds',
    secondsUpTo(LONGEST_WAIT_SECONDS, { canBeZero: true }),
    'how long a closing app waits for models',
  ],
];

export const SUMMARIZER_SETTING_VARIABLES: readonly SummarizerVariable[] = ROWS.map(([setting, kind, meaning]) => ({
  name: `${SUMMARIZER_PREFIX}${setting.replaceAll(/[A-Z]/g, '_$&')}`.toUpperCase(),
  kind,
  meaning,
  otherwise: setting === 'prompt' ? 'one of our own' : String(DEFAULT_SUMMARIZER[setting]),
  setting,
}));

/** Which model writes the summaries. */
export const MODEL_VARIABLES = {
  url: {
    name: 'SUMMARIZER_MODEL_URL',
    kind: matching(/^https?:\/\/[^\s@]+$/, 'http://… or https://…, as far as /chat/completions and without a password'),
    meaning: 'URL of a model with the `chat/completions` API',
    otherwise: 'sentences are picked, without any model',
    isSecret: true,
  },
  name: { name: 'SUMMARIZER_MODEL', kind: text, meaning: 'with `SUMMARIZER_MODEL_URL`, which needs it' },
  key: {
    name: 'SUMMARIZER_MODEL_KEY',
    kind: matching(/^[\t\u0020-\u007e\u0080-\u00ff]*$/, 'one line of Latin characters, as a header holds them'),
    meaning: 'with `SUMMARIZER_MODEL_URL`',
    isSecret: true,
  },
} as const satisfies Readonly<Record<string, Variable>>;

export const SUMMARIZER_VARIABLES: readonly Variable[] = [
  ...SUMMARIZER_SETTING_VARIABLES,
  ...Object.values(MODEL_VARIABLES),
];
