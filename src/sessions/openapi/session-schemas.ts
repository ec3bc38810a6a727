import { type Schema, schemaRef } from './document-types.js';

const milliseconds: Schema = {
  type: 'integer',
  minimum: 0,
  description: 'Epoch milliseconds, by the clock of the store.',
};
const id: Schema = { type: 'string', minLength: 1, maxLength: 191 };
const newId: Schema = { type: 'string', maxLength: 191, description: 'Generated where it is left out.' };

const SESSION: Schema = {
  type: 'object',
  required: [
    'id',
    'appName',
    'userId',
    'state',
    'events',
    'createTime',
    'lastUpdateTime',
    'version',
    'conversationCount',
    'saveKey',
  ],
  additionalProperties: false,
  properties: {
    id,
    appName: id,
    userId: id,
    state: schemaRef('State'),
    events: {
      type: 'array',
      items: schemaRef('Event'),
      description:
        'What a reader is shown: the log without rewound events, summaries in place of what they cover. Empty in lists.',
    },
    createTime: milliseconds,
    lastUpdateTime: milliseconds,
    version: { type: 'integer', minimum: 0, description: 'The number of the last event; what `ETag` says.' },
    conversationCount: {
      type: 'integer',
      minimum: 0,
      description: 'How often the user spoke, without what was rewound.',
    },
    saveKey: { type: 'string', description: 'Names the user within all apps, such as for a save file.' },
  },
};

const SESSION_PAGE: Schema = {
  type: 'object',
  required: ['sessions', 'limit'],
  additionalProperties: false,
  properties: {
    sessions: { type: 'array', items: schemaRef('Session') },
    limit: { type: 'integer', minimum: 0 },
    nextCursor: {
      type: 'string',
      description: 'Asks for the next page; missing on the last one, and where pages are counted.',
    },
    page: { type: 'integer', minimum: 1, description: 'Only where `page` or `offset` was given, like the totals.' },
    totalItems: { type: 'integer', minimum: 0 },
    totalPages: { type: 'integer', minimum: 0 },
  },
};

const NEW_SESSION: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: { sessionId: newId, state: schemaRef('State') },
};

const NEW_SESSION_WITH_ID: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: { state: schemaRef('State') },
};

const REWIND: Schema = {
  type: 'object',
  description: 'Either of the two.',
  additionalProperties: false,
  properties: {
    toSeq: { type: 'integer', minimum: 0, description: 'The last event to keep; 0 takes everything back.' },
    invocationId: { type: 'string', description: 'Takes back this invocation and all that came after it.' },
  },
};

const FORK: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    atSeq: {
      type: 'integer',
      minimum: 0,
      description: 'As it was after this event; as it is now where it is left out.',
    },
    newSessionId: newId,
  },
};

const PROBLEM: Schema = {
  type: 'object',
  description: 'What went wrong, as RFC 9457 describes it.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'For people: what to do about it.' },
    code: { type: 'string', description: 'For programs: it never changes.' },
    path: { type: 'string', description: 'Where in the request it is.' },
    currentVersion: { type: 'integer', minimum: 0, description: 'Of a condition that failed.' },
    outcomeUnknown: { type: 'boolean', description: 'Whether the write may have happened.' },
    eventId: { type: 'string', description: 'The id under which to send the event again.' },
  },
};

export const SESSION_SCHEMAS: Readonly<Record<string, Schema>> = {
  Session: SESSION,
  SessionPage: SESSION_PAGE,
  NewSession: NEW_SESSION,
  NewSessionWithId: NEW_SESSION_WITH_ID,
  Rewind: REWIND,
  Fork: FORK,
  Problem: PROBLEM,
};
