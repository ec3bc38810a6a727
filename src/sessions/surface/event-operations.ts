import { InvalidInputError } from '../domain/errors/errors.js';
import type { EventInput, LoggedEvent } from '../domain/event/event.js';
import type { SessionKey } from '../domain/values/ids.js';
import { isPlainObject } from '../domain/values/json-value.js';
import { POSITION_PATTERN } from '../domain/stored/partial-event.js';
import { reservedInId } from '../domain/values/reserved-words.js';
import type { GetSessionConfig } from '../domain/view/view-config.js';
import { referenceTo } from '../domain/session/session.js';
import type { AppendEventsResult } from '../operations/append-events.js';
import type { ExplainViewRequest } from '../operations/explain-view.js';
import { type ModelRequestQuery, withoutPrompts } from '../operations/get-model-request.js';
import type { ListEventsRequest } from '../operations/list-events.js';
import type { RedactEventRequest } from '../operations/redact-event.js';
import { APPENDS_EVENT, APPENDS_EVENTS, REDACTS } from '../transport/request-writes.js';
import { readsOf } from '../reads-of.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { EXPLAINED_RANGE, VIEW_EXPLANATION } from './explanation-shapes.js';
import { ID, PAGE, SEEN, SORT_ORDER } from './ids-and-pages.js';
import {
  APPENDED,
  APPENDED_EVENTS,
  type Appended,
  EVENT,
  EVENT_EXAMPLE,
  EVENT_INPUT,
  EVENT_PAGE,
  REDACTED,
  WATCH,
  eventNode,
} from './event-shapes.js';
import { MODEL_REQUEST } from './request-shapes.js';
import { type Asked, type Reply, type ResponseHeader, type RoutedOperation, rowOf, surface } from './operation.js';
import { SESSION } from './paths.js';
import { NARROWING } from './session-shapes.js';
import { choice, flag, integer, json, jsonOf, listOf, optional, text } from './shape.js';

/** The conditions of a write. */
interface Conditions extends SessionKey {
  readonly expectedVersion?: number | undefined;
  readonly turn?: string | undefined;
  readonly endTurn?: boolean | undefined;
}

interface AppendOne extends Conditions {
  readonly event: EventInput;
}

interface AppendSeveral extends Conditions {
  readonly events: readonly EventInput[];
}

const REPLAY_HEADERS: Readonly<Record<string, ResponseHeader>> = {
  ETag: {
    description: 'The version of the session with this event as its last one; missing if nothing is stored.',
    schema: { type: 'string', pattern: '^"\\d+"$' },
  },
  'Idempotent-Replayed': {
    description: '`true` if the event had been stored before.',
    schema: { type: 'string', enum: ['true'] },
  },
};

const ORDER = optional(choice(SORT_ORDER, 'Oldest first by default.', { default: 'asc' }));

const KEY_HEADER = 'Idempotency-Key';

const row = rowOf<{ sessions: SessionService }>();

/** The log of a session. */
export const EVENT_OPERATIONS = surface({
  tag: 'events',
  services: { sessions: SERVED_SESSIONS },
  operations: {
    listEvents: row({
      summary: 'Lists the whole log, also what left the view',
      access: ['read', 'session'],
      request: {
        ...PAGE,
        ...SEEN,
        order: ORDER,
        afterSeq: optional(integer('Only events after this one.')),
        beforeSeq: optional(integer('Only events before this one.')),
        invocationId: optional(text('Only events of this invocation, without rewinds.', { minLength: 1 })),
        modelRequests: optional(
          flag('Only answers that say what their model was given. A page may be empty and have a next one.'),
        ),
      },
      result: EVENT_PAGE,
      run: (request: ListEventsRequest, { services }) => readsOf(services.sessions).listEvents(request),
      route: { at: `GET ${SESSION}/events`, answers: 'A page of events.' },
      graphql: { type: 'query', name: 'events' },
    }),
    explainView: row({
      summary: 'Says why each event is in the view, or not',
      description: 'The first parameters choose the view, as those of a session do; the others choose the events.',
      access: ['read', 'session'],
      request: { ...NARROWING, ...EXPLAINED_RANGE, ...PAGE, ...SEEN, order: ORDER },
      result: VIEW_EXPLANATION,
      run: (
        { numRecentEvents, afterTimestamp, afterSeq, ...request }: ExplainViewRequest & GetSessionConfig,
        { services },
      ) =>
        readsOf(services.sessions).explainView({ ...request, config: { numRecentEvents, afterTimestamp, afterSeq } }),
      route: { at: `GET ${SESSION}/view/explanation`, answers: 'A page of explained events.' },
      graphql: { type: 'query', name: 'explainView' },
    }),
    getModelRequest: row({
      summary: 'Says what a model was given for an answer, and what changed',
      description:
        'Instructions and tools are shown to those whom the access rule `allowsPrompts`; others get their hashes.',
      access: ['read', 'session'],
      request: {
        seq: integer('The event that is the answer.', { minimum: 1 }),
        since: optional(
          integer('The answer to the request to compare with. Default: the one before by the same agent.', {
            minimum: 1,
          }),
        ),
        ...SEEN,
      },
      result: MODEL_REQUEST,
      async run(query: ModelRequestQuery, { services, access, request }) {
        const report = await readsOf(services.sessions).getModelRequest(query);
        return report && !(await access.allowsPrompts(query, request)) ? withoutPrompts(report) : report;
      },
      route: {
        at: `GET ${SESSION}/model-request`,
        answers: 'The request.',
        others: [{ status: 204, description: 'The event does not say what a model was given.' }],
      },
      graphql: { type: 'query', name: 'modelRequest', isNullable: true },
    }),
    appendEvent: row({
      summary: 'Appends an event',
      description: 'Safe to repeat with the same event id: the event is stored once.',
      access: ['write', 'session', APPENDS_EVENT],
      request: { event: json('The event. Only the author is required. Its id makes the append safe to retry.') },
      keepsVersion: true,
      turn: 'in or ending',
      result: APPENDED,
      async run(
        { event, expectedVersion, turn, endTurn, ...key }: AppendOne,
        { services: { sessions } },
      ): Promise<Appended> {
        if (!isPlainObject(event)) throw new InvalidInputError('must be an event, as a JSON object', 'event');
        const session = referenceTo(key);
        if (event.partial === true) return { partial: await sessions.appendEvent({ session, event }) };
        return sessions.append({ session, event, expectedVersion, turn, endTurn });
      },
      route: {
        at: `POST ${SESSION}/events`,
        answers: 'The stored event.',
        result: EVENT,
        body: { name: EVENT_INPUT.name, example: EVENT_INPUT.example, is: 'event', shape: EVENT_INPUT },
        holds: 'its body',
        takes: [
          {
            name: KEY_HEADER,
            description: 'The id of the event, if the body has none. An event that is sent again is stored once.',
            schema: ID,
          },
        ],
        prepare: ({ event, ...request }: AppendOne, asked: Asked) => ({
          ...request,
          event: withId(event, asked.header(KEY_HEADER.toLowerCase())),
        }),
        reply({ event, duplicate = false, partial }: Appended, reply: Reply) {
          if (event) replyStored(event.seq, duplicate, reply);
          else reply.setStatus(200);
          return event ?? partial;
        },
        headers: ['ETag'],
        others: [
          {
            status: 200,
            description: 'The event as it was stored before; or a partial event, unchanged and not stored.',
            anyOf: [EVENT, EVENT_INPUT],
            example: EVENT_EXAMPLE,
            headers: REPLAY_HEADERS,
          },
        ],
      },
      graphql: { type: 'mutation', name: 'appendEvent' },
    }),
    appendEvents: row({
      summary: 'Appends several events, all or none',
      description: 'Safe to repeat with the same event ids: the events are stored once.',
      access: ['write', 'session', APPENDS_EVENTS],
      request: {
        events: listOf(
          jsonOf(EVENT_INPUT),
          'The events, in the order of the log. Their ids make the append safe to retry.',
        ),
      },
      keepsVersion: true,
      turn: 'in or ending',
      result: APPENDED_EVENTS,
      run: ({ events, expectedVersion, turn, endTurn, ...key }: AppendSeveral, { services }) =>
        services.sessions.appendBatch({ session: referenceTo(key), events, expectedVersion, turn, endTurn }),
      route: {
        at: `POST ${SESSION}/events/batch`,
        answers: 'The stored events.',
        body: {
          name: 'EventBatch',
          description: 'Events to append together, in the order of the log.',
          example: { events: [EVENT_INPUT.example] },
        },
        holds: 'its body',
        prepare(request: AppendSeveral, asked: Asked) {
          if (asked.header(KEY_HEADER.toLowerCase()) === undefined) return request;
          throw new InvalidInputError('is not possible here; give each event an id', KEY_HEADER);
        },
        reply({ events, duplicate }: AppendEventsResult, reply: Reply) {
          const lastSeq = Math.max(0, ...events.map(({ partial, seq }) => (partial ? 0 : seq)));
          if (lastSeq === 0) reply.setStatus(200);
          else replyStored(lastSeq, duplicate, reply);
          return { events };
        },
        headers: ['ETag'],
        others: [
          {
            status: 200,
            description: 'The events as they were stored before; or no event was to be stored.',
            result: APPENDED_EVENTS,
            headers: REPLAY_HEADERS,
          },
        ],
      },
      graphql: {
        type: 'mutation',
        name: 'appendEvents',
        // An answer that is too large must not look like a failed append.
        echoes: 'events',
        node: ({ events, duplicate }: AppendEventsResult) => ({
          events: events.map((event) => (event.partial ? null : eventNode(event))),
          duplicate,
        }),
      },
    }),
    redactEvent: row({
      summary: 'Replaces what an event says for good',
      description:
        'The event keeps its place in the log, its author and its times, with a note of when and why. Safe to repeat. An event of the ' +
        'author `system` tells watches and consumers.',
      access: ['write', 'session', REDACTS],
      request: {
        seq: integer('The event to redact.', { minimum: 1 }),
        reason: text('Why, for the note. It stays.', { minLength: 1, maxLength: 500 }),
        state: optional(
          flag('Whether the values that the event wrote into state go, too, where they are still there.', {
            default: false,
          }),
        ),
      },
      turn: 'in',
      result: REDACTED,
      run: (request: RedactEventRequest, { services }) => services.sessions.redactEvent(request),
      route: {
        at: `POST ${SESSION}/redaction`,
        status: 200,
        answers: 'The event as it is now.',
        body: { name: 'Redact', example: { seq: 1, reason: 'a card number' } },
        holds: 'what it did',
      },
      graphql: { type: 'mutation', name: 'redactEvent' },
    }),
  },
});

/** The stream of the log, see `EventStreamController`. */
export const STREAM_EVENTS = {
  summary: 'Streams the events of the log as they come',
  description:
    'Server-sent events, each an `Event` as JSON in `data` with its number as `id`. The stream begins after ' +
    '`Last-Event-ID` or `afterSeq`, or with the next event. With `stateDeltas=true`, each event has `statePatch`. With ' +
    '`partials=true`, what a running agent says comes as events with `partial: true`, whose `id` in the stream is a position ' +
    'between two events; the stored event replaces those of its message. A comment every 15 seconds keeps the connection alive. When ' +
    'the session is deleted or expires, or you may not read it any more, a last event of the type `problem` holds a ' +
    '`Problem`. A stream that ends without one has reached its maximum age: connect again. A stream that is not read ends with the ' +
    'problem `STREAM_STALLED`.',
  access: ['read', 'session'],
  request: WATCH,
  route: {
    at: `GET ${SESSION}/events/stream`,
    answers: 'A stream that does not end.',
    example: `id: 1\ndata: ${JSON.stringify(EVENT_EXAMPLE)}\n\n`,
    holds: 'a stream',
    takes: [
      {
        name: 'Last-Event-ID',
        description:
          'The last event that you know; browsers send it when they reconnect. It takes precedence over `afterSeq`.',
        schema: { type: 'string', pattern: POSITION_PATTERN },
      },
    ],
  },
} as const satisfies RoutedOperation;

/** `ETag` is the version with the event as the last one, so that the next `If-Match` succeeds if nothing was appended after it. */
function replyStored(seq: LoggedEvent['seq'], isDuplicate: boolean, reply: Reply): void {
  reply.tagVersion(seq);
  if (!isDuplicate) return;
  reply.setStatus(200);
  reply.setHeader('Idempotent-Replayed', 'true');
}

/** The event with the id of the header, which makes a retry safe. */
function withId(event: unknown, key: string | undefined): EventInput {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    throw new InvalidInputError('must be an event, as a JSON object', 'body');
  }
  const given = event as EventInput;
  if (key === undefined || given.id === key) return given;
  // An empty key would store each retry of an event, and HTTP does not carry other characters reliably.
  if (!/^[ -~]+$/.test(key))
    throw new InvalidInputError('must be ASCII, and not empty; send other ids in the event', KEY_HEADER);
  if (given.id !== undefined) throw new InvalidInputError('is not the id of the event', KEY_HEADER);
  // The access rule has seen the body.
  if (reservedInId(key) !== undefined) {
    throw new InvalidInputError('is an id that is reserved; a service may send it in the event', KEY_HEADER);
  }
  return { ...given, id: key };
}
