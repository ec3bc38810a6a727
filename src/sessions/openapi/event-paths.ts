import { REPLAY_HEADERS, answer, json, problems } from './answers.js';
import { type PathItem, type Paths, schemaRef } from './document-types.js';
import { EVENT_PAGE_EXAMPLE, EXAMPLES, STREAM_EXAMPLE } from './examples.js';
import { parameters } from './parameters.js';

const tags = ['events'];
const stored = json('Event', EXAMPLES.event);

const known = answer(
  'The event as it had been stored before; or a partial event as it came, which is not stored.',
  json({ anyOf: [schemaRef('Event'), schemaRef('EventInput')] }, EXAMPLES.event),
);

const events: PathItem = {
  parameters: parameters('appName', 'userId', 'sessionId'),
  get: {
    operationId: 'listEvents',
    tags,
    summary: 'A page of the whole log, rewound and summarised events included',
    parameters: parameters('limit', 'cursor', 'oldestFirst', 'afterSeq', 'beforeSeq'),
    responses: { 200: answer('The page.', json('EventPage', EVENT_PAGE_EXAMPLE), 'Link'), ...problems(404) },
  },
  post: {
    operationId: 'appendEvent',
    tags,
    summary: 'Appends an event',
    description: 'Safe to repeat under the same id: the event is stored once.',
    parameters: parameters('ifMatch', 'idempotencyKey'),
    requestBody: { required: true, content: json('EventInput', EXAMPLES.eventInput) },
    responses: {
      201: answer('The event as it is stored.', stored, 'ETag'),
      200: { ...known, headers: { ...known.headers, ...REPLAY_HEADERS } },
      ...problems(403, 404, 409, 412, 413, 415),
    },
  },
};

const stream: PathItem = {
  parameters: parameters('appName', 'userId', 'sessionId'),
  get: {
    operationId: 'streamEvents',
    tags,
    summary: 'The events of the log as they come',
    description:
      'Server-sent events, each an `Event` as JSON in `data`, with its number as `id`. They begin after `Last-Event-ID` or ' +
      '`afterSeq`, or with what comes from now on. A comment every 15 seconds keeps the connection alive. When the session ' +
      'is deleted or expires, a last event of the type `problem` holds a `Problem`.',
    parameters: parameters('afterSeq', 'lastEventId'),
    responses: {
      200: answer('A stream without end.', {
        'text/event-stream': { schema: { type: 'string' }, example: STREAM_EXAMPLE },
      }),
      ...problems(404),
    },
  },
};

const EVENTS = '/apps/{appName}/users/{userId}/sessions/{sessionId}/events';

export const EVENT_PATHS: Paths = { [EVENTS]: events, [`${EVENTS}/stream`]: stream };
