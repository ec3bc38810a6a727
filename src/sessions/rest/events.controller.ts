import { Get, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiHeader, ApiOperation, ApiQuery, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { InvalidInputError } from '../domain/errors.js';
import type { EventInput, LoggedEvent } from '../domain/event.js';
import { referenceTo } from '../domain/session.js';
import { reservedInId } from '../domain/reserved-words.js';
import { RequireAccess } from '../transport/session-access.js';
import { APPENDS_BODY, APPENDS_EVENTS } from '../transport/request-writes.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { KeepsVersion } from './condition.guard.js';
import { AnswersItsBody, LargeAnswer } from './answer.interceptor.js';
import { ApiResult, ApiIds, ApiProblems, type ResponseHeaders } from './api-responses.js';
import { DtoPipe } from './dto.pipe.js';
import {
  AppendedEventsDto,
  EVENT_EXAMPLE,
  EventBatchBody,
  EventDto,
  EventInputDto,
  EventPageDto,
} from './dto/event.dto.js';
import { ListEventsQuery, numberOf } from './dto/query.dto.js';
import { ID } from './dto/session.dto.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { type SessionParams, JsonBody, SessionRoutes } from './session-routes.js';
import { WritesInTurn, turnOf } from './turn-headers.js';

const REPLAY_HEADERS: ResponseHeaders = {
  ETag: {
    description: 'The version of the session with this event as its last one; missing if nothing is stored.',
    schema: { type: 'string', pattern: '^"\\d+"$' },
  },
  'Idempotent-Replayed': {
    description: '`true` if the event had been stored before.',
    schema: { type: 'string', enum: ['true'] },
  },
};

/** The log of a session. */
@ApiTags('events')
@SessionRoutes('apps/:appName/users/:userId/sessions/:sessionId/events')
export class EventsController {
  constructor(@Inject(SERVED_SESSIONS) private readonly sessions: SessionService) {}

  @Get()
  @RequireAccess('read', 'session')
  @LargeAnswer()
  @ApiOperation({ operationId: 'listEvents', summary: 'Lists the whole log, rewound and summarised events included' })
  @ApiQuery({ type: ListEventsQuery })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(200, 'A page of events.', { type: EventPageDto, headers: ['Link'] })
  @ApiProblems(404)
  async list(
    @Param() key: SessionParams,
    @Query(new DtoPipe(ListEventsQuery)) query: Readonly<ListEventsQuery>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<EventPageDto> {
    const { limit, afterSeq, beforeSeq, ...how } = query;
    const numbers = { limit: numberOf(limit), afterSeq: numberOf(afterSeq), beforeSeq: numberOf(beforeSeq) };
    const page = await this.sessions.listEvents({ ...key, ...how, ...numbers });
    exchange.linkPages(page);
    return page;
  }

  /**
   * The body is the event itself. `If-Match` is the version that it has to follow, `Idempotency-Key` the
   * event's id, so that a retry is stored once. The `ETag` of the response is the version of the session with this
   * event as its last one. So the next `If-Match` succeeds if nothing was appended after it.
   */
  @Post()
  @RequireAccess('write', 'session', APPENDS_BODY)
  @AnswersItsBody()
  @ApiOperation({
    operationId: 'appendEvent',
    summary: 'Appends an event',
    description: 'Safe to repeat with the same event id: the event is stored once.',
  })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'The id of the event, if the body has none. An event that is sent again is stored once.',
    schema: ID,
  })
  @KeepsVersion()
  @WritesInTurn()
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: EventInputDto })
  @ApiExtraModels(EventDto)
  @ApiResult(200, 'The event as it was stored before; or a partial event, unchanged and not stored.', {
    schema: { anyOf: [{ $ref: getSchemaPath(EventDto) }, { $ref: getSchemaPath(EventInputDto) }] },
    example: EVENT_EXAMPLE,
    ownHeaders: REPLAY_HEADERS,
  })
  @ApiResult(201, 'The stored event.', { type: EventDto, headers: ['ETag'] })
  @ApiProblems(403, 404, 413, 415)
  async append(
    @Param() key: SessionParams,
    @JsonBody() body: unknown,
    @Exchange() exchange: CurrentExchange,
  ): Promise<EventInput | LoggedEvent> {
    const event = eventOf(body, exchange.header('idempotency-key'));
    const session = referenceTo(key);
    if (event.partial === true) {
      exchange.setStatus(200);
      return this.sessions.appendEvent({ session, event });
    }
    const { event: stored, duplicate } = await this.sessions.append({
      session,
      event,
      expectedVersion: exchange.expectedVersion(),
      ...turnOf(exchange),
    });
    exchange.tagVersion(stored.seq);
    if (duplicate) {
      exchange.setStatus(200);
      exchange.setHeader('Idempotent-Replayed', 'true');
    }
    return stored;
  }

  /** All events or none. The `ETag` of the response is the version of the session after the last of them. */
  @Post('batch')
  @RequireAccess('write', 'session', APPENDS_EVENTS)
  @AnswersItsBody()
  @ApiOperation({
    operationId: 'appendEvents',
    summary: 'Appends several events, all or none',
    description: 'Safe to repeat with the same event ids: the events are stored once.',
  })
  @KeepsVersion()
  @WritesInTurn()
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: EventBatchBody })
  @ApiResult(200, 'The events as they were stored before; or no event was to be stored.', {
    type: AppendedEventsDto,
    ownHeaders: REPLAY_HEADERS,
  })
  @ApiResult(201, 'The stored events.', { type: AppendedEventsDto, headers: ['ETag'] })
  @ApiProblems(403, 404, 413, 415)
  async appendBatch(
    @Param() key: SessionParams,
    @JsonBody(new DtoPipe(EventBatchBody)) { events: given }: Readonly<EventBatchBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<AppendedEventsDto> {
    if (exchange.header('idempotency-key') !== undefined) {
      throw new InvalidInputError('is not possible here; give each event an id', 'Idempotency-Key');
    }
    const { events, duplicate } = await this.sessions.appendBatch({
      session: referenceTo(key),
      events: given as EventInput[],
      expectedVersion: exchange.expectedVersion(),
      ...turnOf(exchange),
    });
    const lastSeq = Math.max(0, ...events.map(({ partial, seq }) => (partial ? 0 : seq)));
    if (lastSeq > 0) exchange.tagVersion(lastSeq);
    if (duplicate || lastSeq === 0) exchange.setStatus(200);
    if (duplicate) exchange.setHeader('Idempotent-Replayed', 'true');
    return { events };
  }
}

function eventOf(body: unknown, key: string | undefined): EventInput {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidInputError('must be an event, as a JSON object', 'body');
  }
  const event = body as EventInput;
  if (key === undefined || event.id === key) return event;
  // An empty key would store each retry of an event, and HTTP does not carry other characters reliably.
  if (!/^[ -~]+$/.test(key))
    throw new InvalidInputError('must be ASCII; send other ids in the event', 'Idempotency-Key');
  if (event.id !== undefined) throw new InvalidInputError('is not the id of the event', 'Idempotency-Key');
  // The access rule has seen the body.
  if (reservedInId(key) !== undefined) {
    throw new InvalidInputError('is an id that is reserved; a service may send it in the event', 'Idempotency-Key');
  }
  return { ...event, id: key };
}
