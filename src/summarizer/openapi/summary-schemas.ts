import { type Schema, schemaRef } from '../../sessions/openapi/document-types.js';

const seq = (description: string): Schema => ({ type: 'integer', minimum: 0, description });
const count: Schema = { type: 'integer', minimum: 0 };

const SESSION_SUMMARY: Schema = {
  type: 'object',
  description: 'What stands for the beginning of a conversation, as the log keeps it.',
  required: [
    'sessionId',
    'text',
    'seq',
    'fromSeq',
    'toSeq',
    'createTime',
    'originalEventCount',
    'compressedEventCount',
    'compressionRatio',
    'isInForce',
  ],
  additionalProperties: false,
  properties: {
    sessionId: { type: 'string', minLength: 1, maxLength: 191 },
    text: { type: 'string' },
    seq: seq('Its own place in the log.'),
    fromSeq: seq('The first event that it stands for.'),
    toSeq: seq('The last event that it stands for.'),
    createTime: { type: 'number', description: 'Epoch milliseconds.' },
    model: { type: 'string' },
    promptVersion: { type: 'string' },
    originalEventCount: { ...count, description: 'Events that a reader saw before it.' },
    compressedEventCount: { ...count, description: 'Events that a reader saw after it.' },
    compressionRatio: { type: 'number', description: 'Per cent of the events that a reader is spared.' },
    inputTokens: count,
    outputTokens: count,
    durationMs: count,
    isInForce: {
      type: 'boolean',
      description: 'Whether readers see it: it was not replaced by a later one, nor rewound.',
    },
  },
};

const SUMMARY_LIST: Schema = {
  type: 'object',
  required: ['summaries', 'limit'],
  additionalProperties: false,
  properties: {
    summaries: {
      type: 'array',
      items: schemaRef('SessionSummary'),
      description: 'Oldest first. Where there are as many as `limit`, more may follow: ask for them by `afterSeq`.',
    },
    limit: count,
  },
};

const NEW_SUMMARY: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: { force: { type: 'boolean', default: false, description: 'Also where it is not due yet.' } },
};

export const SUMMARY_SCHEMAS: Readonly<Record<string, Schema>> = {
  SessionSummary: SESSION_SUMMARY,
  SummaryList: SUMMARY_LIST,
  NewSummary: NEW_SUMMARY,
};

export const SUMMARY_EXAMPLE = {
  sessionId: 'order-7',
  text: 'Ann asked for the delivery of order 4711 to be moved to Friday; it was.',
  seq: 43,
  fromSeq: 1,
  toSeq: 32,
  createTime: 1_767_225_660_000,
  model: 'gpt-5-mini',
  promptVersion: '1',
  originalEventCount: 42,
  compressedEventCount: 11,
  compressionRatio: 73.8,
  inputTokens: 1_850,
  outputTokens: 24,
  durationMs: 1_210,
  isInForce: true,
} as const;
