import { type Schema, schemaRef } from './document-types.js';

const anything: Schema = {};
const seq: Schema = { type: 'integer', minimum: 1, description: 'The place in the log, counted from 1.' };

/** A field that may be there without a value, as other ADKs send what they leave out. */
function orNull({ description, ...schema }: Schema): Schema {
  return { ...(description !== undefined && { description }), anyOf: [schema, { enum: [null] }] };
}

const object: Schema = { type: 'object', additionalProperties: true };

/** Values by key; the prefix of a key says whose state it is. */
export const STATE: Schema = {
  type: 'object',
  description:
    'Values by key. A key without prefix belongs to the session, `user:` to all sessions of the user, `app:` to all of the app; ' +
    '`temp:` is not stored.',
  additionalProperties: anything,
};

const stateRemovals: Schema = {
  type: 'array',
  items: { type: 'string' },
  description: 'Keys to remove. `null` in `stateDelta` is a value, not a removal.',
};

export const STATE_CHANGE: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: { stateDelta: schemaRef('State'), stateRemovals },
};

const PART: Schema = {
  type: 'object',
  description: 'One piece of what is said; parts have the shapes of ADK, and fields not named here are kept.',
  additionalProperties: true,
  properties: {
    text: orNull({ type: 'string' }),
    functionCall: orNull(object),
    functionResponse: orNull(object),
    inlineData: orNull(object),
  },
};

const CONTENT: Schema = {
  type: 'object',
  additionalProperties: true,
  properties: { role: orNull({ type: 'string' }), parts: orNull({ type: 'array', items: schemaRef('Part') }) },
};

const EVENT_ACTIONS: Schema = {
  type: 'object',
  description: 'What the event does besides being said. Fields not named here are kept.',
  additionalProperties: true,
  properties: {
    stateDelta: schemaRef('State'),
    stateRemovals,
    artifactDelta: orNull(object),
    skipSummarization: orNull({ type: 'boolean' }),
    transferToAgent: orNull({ type: 'string' }),
    escalate: orNull({ type: 'boolean' }),
    compaction: orNull({
      type: 'object',
      description: 'Makes the event a summary in place of these events.',
      required: ['fromSeq', 'toSeq'],
      additionalProperties: true,
      properties: { fromSeq: seq, toSeq: seq },
    }),
    rewind: orNull({
      type: 'object',
      description: 'Takes the conversation back to where it stood after this event.',
      required: ['toSeq'],
      additionalProperties: true,
      properties: { toSeq: { type: 'integer', minimum: 0 } },
    }),
  },
};

const eventFields: Readonly<Record<string, Schema>> = {
  id: {
    type: 'string',
    minLength: 1,
    maxLength: 191,
    description:
      'Unique in its session; generated where it is left out. Sent again with the same content, it is stored once.',
  },
  invocationId: { type: 'string', description: 'What one turn of an agent has in common.' },
  author: orNull({ type: 'string', description: '`user`, or the name of an agent.' }),
  branch: orNull({ type: 'string' }),
  timestamp: {
    type: 'number',
    description: 'Epoch milliseconds; below 1e11 it is taken for seconds. The time of the append where it is left out.',
  },
  partial: orNull({ type: 'boolean', description: 'A piece of a stream: answered as it came, and not stored.' }),
  content: orNull(schemaRef('Content')),
  actions: schemaRef('EventActions'),
  longRunningToolIds: orNull({ type: 'array', items: { type: 'string' } }),
  usageMetadata: orNull(object),
  errorCode: orNull({ type: 'string' }),
  errorMessage: orNull({ type: 'string' }),
  customMetadata: orNull(object),
  turnComplete: orNull({ type: 'boolean' }),
  interrupted: orNull({ type: 'boolean' }),
  groundingMetadata: anything,
};

const EVENT_INPUT: Schema = {
  type: 'object',
  description: 'An event as it is given. All fields may be left out; fields not named here are kept.',
  additionalProperties: true,
  properties: eventFields,
};

const EVENT: Schema = {
  type: 'object',
  description: 'An event as it is stored.',
  required: ['id', 'seq', 'invocationId', 'timestamp', 'actions'],
  additionalProperties: true,
  properties: { ...eventFields, seq },
};

const EVENT_PAGE: Schema = {
  type: 'object',
  required: ['events', 'firstSeq', 'lastSeq'],
  additionalProperties: false,
  properties: {
    events: { type: 'array', items: schemaRef('Event') },
    firstSeq: { type: 'integer', minimum: 1, description: 'The first event that is kept.' },
    lastSeq: { type: 'integer', minimum: 0, description: 'The last event of the log.' },
    nextCursor: { type: 'string', description: 'Asks for the next page; missing on the last one.' },
  },
};

export const EVENT_SCHEMAS: Readonly<Record<string, Schema>> = {
  State: STATE,
  StateChange: STATE_CHANGE,
  Part: PART,
  Content: CONTENT,
  EventActions: EVENT_ACTIONS,
  EventInput: EVENT_INPUT,
  Event: EVENT,
  EventPage: EVENT_PAGE,
};
