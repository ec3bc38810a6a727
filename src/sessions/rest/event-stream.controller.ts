import { Get, Inject, Logger, Param, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { InvalidInputError } from '../domain/errors.js';
import { type StreamPosition, POSITION_PATTERN, checkedPosition, positionText } from '../domain/partial-event.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { AccessChecks } from '../transport/access-checks.js';
import { RequireAccess } from '../transport/session-access.js';
import { NO_EVENTS } from '../transport/stream-access.js';
import { OpensStream } from './answer.interceptor.js';
import { ApiResult, ApiIds, ApiProblems, STREAM_HEADERS } from './api-responses.js';
import { DtoPipe } from './dto.pipe.js';
import { EVENT_EXAMPLE } from './dto/event.dto.js';
import { StreamQuery, numberOf } from './dto/query.dto.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { sendEvents } from './sent-events.js';
import { type SessionParams, SessionRoutes } from './session-routes.js';

/** Streams the events of a session as server-sent events. Their ids are the numbers in the log. */
@ApiTags('events')
@SessionRoutes('apps/:appName/users/:userId/sessions/:sessionId/events/stream')
export class EventStreamController {
  readonly #logger = new Logger(EventStreamController.name);

  constructor(
    @Inject(SERVED_SESSIONS) private readonly sessions: SessionService,
    private readonly access: AccessChecks,
  ) {}

  /** Streams from now on, or after `afterSeq`. Browsers resume with `Last-Event-ID`. */
  @Get()
  @RequireAccess('read', 'session')
  @OpensStream()
  @ApiOperation({
    operationId: 'streamEvents',
    summary: 'Streams the events of the log as they come',
    description:
      'Server-sent events, each an `Event` as JSON in `data` with its number as `id`. The stream begins after ' +
      '`Last-Event-ID` or `afterSeq`, or with the next event. With `stateDeltas=true`, each event has `statePatch`. With ' +
      '`partials=true`, what a running agent says comes as events with `partial: true`, whose `id` in the stream is a position ' +
      'between two events; the stored event replaces those of its message. A comment every 15 seconds keeps the connection alive. When ' +
      'the session is deleted or expires, or you may not read it any more, a last event of the type `problem` holds a ' +
      '`Problem`. A stream that ends without one has reached its maximum age: connect again. A stream that is not read ends with the ' +
      'problem `STREAM_STALLED`.',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description:
      'The last event that you know; browsers send it when they reconnect. It takes precedence over `afterSeq`.',
    schema: { type: 'string', pattern: POSITION_PATTERN },
  })
  @ApiQuery({ type: StreamQuery })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(200, 'A stream that does not end.', {
    content: {
      'text/event-stream': {
        schema: { type: 'string' },
        example: `id: 1\ndata: ${JSON.stringify(EVENT_EXAMPLE)}\n\n`,
      },
    },
    ownHeaders: STREAM_HEADERS,
  })
  @ApiProblems(404)
  async stream(
    @Param() key: SessionParams,
    @Query(new DtoPipe(StreamQuery)) query: Readonly<StreamQuery>,
    @Exchange() exchange: CurrentExchange,
    // Tells Nest not to send a response.
    @Res() _response: unknown,
  ): Promise<void> {
    const { lastSeq } = await this.sessions.listEvents({ ...key, ...NO_EVENTS });
    const resumed = lastEventId(exchange);
    const afterSeq = resumed?.seq ?? numberOf(query.afterSeq) ?? lastSeq;
    if (afterSeq > lastSeq) {
      const name = resumed === undefined ? 'afterSeq' : 'Last-Event-ID';
      throw new InvalidInputError(`is beyond the last event, ${lastSeq}`, name);
    }
    const { request } = exchange;
    const access = this.access.followStream({ action: 'read', target: 'session', ...key, request });
    await sendEvents(exchange, access, this.#logger, {
      open: (response, signal) =>
        this.sessions.watch({
          ...key,
          afterSeq,
          signal,
          gate: access.gateTo(response),
          ...flagsIn(query),
          ...(resumed && resumed.partial > 0 && { afterPosition: positionText(resumed) }),
        }),
      textOf: (event) => `id: ${event.position ?? event.seq}\ndata: ${JSON.stringify(event)}\n\n`,
    });
  }
}

function flagsIn({ stateDeltas, partials }: StreamQuery): { stateDeltas?: boolean; partials?: boolean } {
  return {
    ...(stateDeltas !== undefined && { stateDeltas: stateDeltas === 'true' }),
    ...(partials !== undefined && { partials: partials === 'true' }),
  };
}

function lastEventId(exchange: CurrentExchange): StreamPosition | undefined {
  const id = exchange.header('last-event-id')?.trim();
  if (id === undefined || id === '') return undefined;
  return checkedPosition(id, 'Last-Event-ID');
}
