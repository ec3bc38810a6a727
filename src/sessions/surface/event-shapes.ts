import type { EventInput, LoggedEvent } from '../domain/event/event.js';
import { REDACTED_TEXT } from '../domain/write/redacted-event.js';
import type { EventPage } from '../operations/list-events.js';
import type { RedactedEvent } from '../operations/redact-event.js';
import {
  integer,
  json,
  jsonOf,
  listOf,
  one,
  optional,
  restOnly,
  graphqlOnly,
  shape,
  text,
  flag,
  ANY_OBJECT,
} from './shape.js';
import type { Field, Fields, JsonSchema, Shape } from './shape.js';
import { RANGES } from './request-shapes.js';
import { METADATA_DELTA } from './metadata-shapes.js';
import { STATE, STATE_REMOVALS } from './state-shapes.js';

/** A field that may be missing or null: other ADKs send null for unset fields. */
const maybe = (field: Field): Field => optional({ ...field, schema: { ...field.schema, nullable: true } });
const maybeRest = (field: Field): Field => restOnly(maybe(field));

const FROM_ONE = { minimum: 1 } as const;
const SEQ = { type: 'integer', ...FROM_ONE } as const;

const PART = shape('Part', {
  description: 'One piece of what is said. Parts have the shapes of ADK; fields not named here are kept.',
  isOpen: true,
  fields: {
    text: maybe(text()),
    functionCall: maybe(json()),
    functionResponse: maybe(json()),
    inlineData: maybe(json()),
  },
});

const CONTENT = shape('Content', {
  isOpen: true,
  fields: { role: maybe(text()), parts: maybe(listOf(PART)) },
});

const range = (required: readonly string[], from: JsonSchema): JsonSchema => ({
  ...ANY_OBJECT,
  nullable: true,
  required,
  properties: from,
});

const EVENT_ACTIONS = shape('EventActions', {
  description: 'What the event does besides being said. Fields not named here are kept.',
  isOpen: true,
  fields: {
    stateDelta: optional(json(STATE.description, STATE)),
    stateRemovals: optional(json(STATE_REMOVALS.description, STATE_REMOVALS)),
    metadataDelta: maybe(
      json('Changes the metadata of the session. What is not named stays as it is.', METADATA_DELTA),
    ),
    artifactDelta: maybe(json()),
    skipSummarization: maybe(flag()),
    transferToAgent: maybe(text()),
    escalate: maybe(flag()),
    compaction: optional(
      json('Makes the event a summary of these events.', range(['fromSeq', 'toSeq'], { fromSeq: SEQ, toSeq: SEQ })),
    ),
    rewind: optional(
      json(
        'Takes the conversation back to where it stood after this event.',
        range(['toSeq'], { toSeq: { type: 'integer', minimum: 0 } }),
      ),
    ),
  },
});

const INPUT_EXAMPLE = {
  id: 'e-1',
  author: 'user',
  content: { role: 'user', parts: [{ text: 'Hello' }] },
  actions: { stateDelta: { step: 2 } },
};

export const EVENT_EXAMPLE = { ...INPUT_EXAMPLE, invocationId: '', timestamp: 1_767_225_600_000, seq: 1 };

const AUTHOR = '`user`, or the name of an agent.';

/** What a caller may give. GraphQL shows the known fields that most readers want; `body` has all of them. */
const GIVEN: Fields = {
  id: text(
    'Unique within the session; generated if it is left out. An event that is sent again with the same content, or as it was returned, is stored once.',
    { minLength: 1, maxLength: 191 },
  ),
  invocationId: text('Groups the events of one turn of an agent.'),
  author: maybe(text(AUTHOR)),
  branch: maybe(text()),
  timestamp: {
    ...integer('Epoch milliseconds; below 1e11, seconds. The time of the append if it is left out.'),
    schema: { type: 'number' },
  },
  partial: maybeRest(flag('A piece of a stream: returned unchanged, not stored.')),
  content: maybe(jsonOf(CONTENT, 'Role and parts of the message.')),
  actions: jsonOf(EVENT_ACTIONS, 'Effects of the event, such as changes of state.'),
  longRunningToolIds: maybeRest(listOf(text())),
  usageMetadata: maybeRest(json()),
  errorCode: maybeRest(text()),
  errorMessage: maybeRest(text()),
  customMetadata: maybeRest(json()),
  turnComplete: maybeRest(flag()),
  interrupted: maybeRest(flag()),
  groundingMetadata: maybeRest(json()),
  modelRequest: maybeRest(
    json('What the model was given whose answer the event is. Instructions and tools are kept beside the log.', {
      ...ANY_OBJECT,
      required: ['given'],
      properties: { given: RANGES },
    }),
  ),
};

/** The known fields of an event in GraphQL: an event may have any others, and `body` has all of them. */
export function eventNode(event: LoggedEvent): object {
  const { id, seq, invocationId, author, branch, timestamp, content, actions } = event;
  return { id, seq, invocationId, author, branch, timestamp, content, actions, body: event };
}

export const EVENT: Shape<LoggedEvent> = {
  name: 'Event',
  description: 'An event of the log. Fields not named here are kept.',
  isOpen: true,
  example: EVENT_EXAMPLE,
  node: eventNode,
  fields: {
    ...GIVEN,
    seq: integer('The place in the log, counted from 1.', FROM_ONE),
    redaction: restOnly(optional(json('When the event was redacted, and why: its content is gone.'))),
    body: graphqlOnly(json('The whole stored event, with all its fields.')),
  },
};

export const EVENT_INPUT: Shape = {
  name: 'EventInput',
  description:
    'An event to append, without an object around it such as `{ "event": … }`. Fields not named here are kept.',
  isOpen: true,
  example: INPUT_EXAMPLE,
  fields: {
    ...Object.fromEntries(Object.entries(GIVEN).map(([name, field]) => [name, optional(field)])),
    author: text(AUTHOR, { minLength: 1 }),
  },
};

export const EVENT_PAGE = shape<EventPage>('EventPage', {
  items: 'events',
  graphqlName: 'EventConnection',
  example: { events: [EVENT_EXAMPLE], firstSeq: 1, lastSeq: 1 },
  fields: {
    events: listOf(EVENT),
    firstSeq: integer('The first event that is kept. Older events were trimmed.', FROM_ONE),
    lastSeq: integer('The last event of the log.'),
    nextCursor: optional(text('The cursor of the next page; missing on the last page.')),
  },
});

/** What an append of one event returns: a partial one is not stored. */
export interface Appended {
  readonly event?: LoggedEvent;
  readonly duplicate?: boolean;
  readonly partial?: EventInput;
}

export const APPENDED = shape<Omit<Appended, 'partial'>, Appended>('AppendResult', {
  node: ({ event, duplicate = false }) => ({ event: event && eventNode(event), duplicate }),
  fields: {
    event: optional(one(EVENT, 'The stored event. Null for a partial event, which is not stored.')),
    duplicate: flag('Whether the event was already stored.'),
  },
});

/** What an append of several events returns. */
export const APPENDED_EVENTS = shape('AppendedEvents', {
  graphqlName: 'AppendBatchResult',
  example: { events: [EVENT_EXAMPLE] },
  fields: {
    events: listOf(
      optional(one(EVENT)),
      'The stored events, in the order of the request. A partial event is in its place, unchanged; in GraphQL it is null.',
      { items: { anyOf: ['Event', 'EventInput'].map((name) => ({ $ref: `#/components/schemas/${name}` })) } },
    ),
    duplicate: graphqlOnly(flag('Whether the events were already stored.')),
  },
});

export const REDACTED = shape<RedactedEvent>('RedactedEvent', {
  example: {
    event: {
      ...EVENT_EXAMPLE,
      content: { role: 'user', parts: [{ text: REDACTED_TEXT }] },
      redaction: { at: 1_767_225_700_000, reason: 'a card number', bytes: 214, contentLength: 19 },
    },
    duplicate: false,
    alsoIn: [4],
  },
  node: ({ event, ...redacted }) => ({ event: eventNode(event), ...redacted }),
  fields: {
    event: one(EVENT, 'The event without what it said.'),
    duplicate: flag('Whether it had been redacted before.'),
    alsoIn: listOf(
      integer(undefined, FROM_ONE),
      'Later events of the session that may have the same content: summaries that cover it, the same text, the same values of state.',
    ),
  },
});

/** What readers of a stream ask for. */
export const WATCH: Fields = {
  afterSeq: optional(integer('Only events after this one. By default, only new events.')),
  stateDeltas: optional(
    flag('Whether each event says in `statePatch` what it changes in the state, as JSON Patch (RFC 6902).', {
      default: false,
    }),
  ),
  partials: optional(
    flag('Whether to send what running agents say, before it is stored: events with `partial: true`.', {
      default: false,
    }),
  ),
  afterPosition: graphqlOnly(
    optional(
      text('With partials: the position of the last event, to go on after it. Takes precedence over `afterSeq`.'),
    ),
  ),
};

/** An event of a subscription. */
export const WATCHED_EVENT: Shape = {
  name: 'WatchedEvent',
  description: 'An event that was appended.',
  fields: {
    ...EVENT.fields,
    statePatch: optional(json('With `stateDeltas`: what the event changes in the state, as JSON Patch (RFC 6902).')),
    partial: flag(
      'Whether it is a piece of what a running agent says. The stored event of its id replaces the pieces.',
    ),
    position: optional(text('With `partials`: where to go on after this event.')),
    offset: optional(integer('Of a piece: how many characters of its message come before. 0 begins the message anew.')),
  },
};
