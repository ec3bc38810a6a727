import { Inject, Logger, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { InvalidInputError } from '../domain/errors/errors.js';
import type { SessionKey } from '../domain/values/ids.js';
import { type StreamPosition, checkedPosition, positionText } from '../domain/stored/partial-event.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { STREAM_EVENTS } from '../surface/event-operations.js';
import { AccessChecks } from '../transport/access-checks.js';
import { NO_EVENTS } from '../transport/stream-access.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { requestReader } from './read-request.js';
import { Route } from './route.js';
import { sendEvents } from './sent-events.js';
import { SessionRoutes } from './session-routes.js';

interface StreamRequest extends SessionKey {
  readonly afterSeq?: number;
  readonly stateDeltas?: boolean;
  readonly partials?: boolean;
}

const readRequest = requestReader<StreamRequest>(STREAM_EVENTS);

/** Streams the events of a session as server-sent events. Their ids are the numbers in the log. */
@ApiTags('events')
@SessionRoutes('')
export class EventStreamController {
  readonly #logger = new Logger(EventStreamController.name);

  constructor(
    @Inject(SERVED_SESSIONS) private readonly sessions: SessionService,
    private readonly access: AccessChecks,
  ) {}

  /** Streams from now on, or after `afterSeq`. Browsers resume with `Last-Event-ID`. */
  @Route('streamEvents', STREAM_EVENTS)
  async streamEvents(
    @Exchange() exchange: CurrentExchange,
    // Tells Nest not to send a response.
    @Res() _response: unknown,
  ): Promise<void> {
    const { appName, userId, sessionId, ...asked } = readRequest(exchange);
    const key = { appName, userId, sessionId };
    const { lastSeq } = await this.sessions.listEvents({ ...key, ...NO_EVENTS });
    const resumed = lastEventId(exchange);
    const afterSeq = resumed?.seq ?? asked.afterSeq ?? lastSeq;
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
          stateDeltas: asked.stateDeltas,
          partials: asked.partials,
          ...(resumed && resumed.partial > 0 && { afterPosition: positionText(resumed) }),
        }),
      textOf: (event) => `id: ${event.position ?? event.seq}\ndata: ${JSON.stringify(event)}\n\n`,
    });
  }
}

function lastEventId(exchange: CurrentExchange): StreamPosition | undefined {
  const id = exchange.header('last-event-id')?.trim();
  if (id === undefined || id === '') return undefined;
  return checkedPosition(id, 'Last-Event-ID');
}
