import { Controller, Get, Param, Post, Query, UseFilters, UseGuards } from '@nestjs/common';
import { InvalidInputError } from '../domain/errors.js';
import type { EventInput, LoggedEvent } from '../domain/event.js';
import type { EventPage } from '../operations/list-events.js';
import { checkSharedWrites } from '../faces/access-checks.js';
import { SessionAccess } from '../faces/session-access.js';
import { SessionService } from '../session.service.js';
import { AccessGuard, Needs } from './access.guard.js';
import { ConditionGuard, KeepsVersion } from './condition.guard.js';
import { EnvelopePipe } from './envelope.pipe.js';
import { ListEventsQuery, numberOf } from './envelopes.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { JsonBody } from './json-body.js';
import { ProblemFilter } from './problem.filter.js';
import type { SessionParams } from './route-params.js';

/** The log of a session. */
@Controller('apps/:appName/users/:userId/sessions/:sessionId/events')
@UseGuards(AccessGuard, ConditionGuard)
@UseFilters(ProblemFilter)
export class EventsController {
  constructor(
    private readonly sessions: SessionService,
    private readonly access: SessionAccess,
  ) {}

  @Get()
  @Needs('read', 'session')
  async list(
    @Param() key: SessionParams,
    @Query(new EnvelopePipe(ListEventsQuery)) query: Readonly<ListEventsQuery>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<EventPage> {
    const { limit, afterSeq, beforeSeq, ...how } = query;
    const numbers = { limit: numberOf(limit), afterSeq: numberOf(afterSeq), beforeSeq: numberOf(beforeSeq) };
    const page = await this.sessions.listEvents({ ...key, ...how, ...numbers });
    exchange.linkPages(page);
    return page;
  }

  /**
   * The body is the event itself. `If-Match` names the version that it has to follow, `Idempotency-Key` the
   * event's id: sent again, it is stored once. The tag of the answer is the version that the session had with this
   * event as its last one, so that the next `If-Match` holds as long as nothing came after it.
   */
  @Post()
  @KeepsVersion()
  @Needs('write', 'session')
  async append(
    @Param() { sessionId: id, ...owner }: SessionParams,
    @JsonBody() body: unknown,
    @Exchange() exchange: CurrentExchange,
  ): Promise<EventInput | LoggedEvent> {
    const event = eventOf(body, exchange.header('idempotency-key'));
    const { stateDelta, stateRemovals } = event.actions ?? {};
    await checkSharedWrites(this.access, { ...owner, stateDelta, stateRemovals, request: exchange.request });
    const session = { id, ...owner };
    if (event.partial === true) {
      exchange.setStatus(200);
      return this.sessions.appendEvent({ session, event });
    }
    const { event: stored, duplicate } = await this.sessions.append({
      session,
      event,
      expectedVersion: exchange.expectedVersion(),
    });
    exchange.tagVersion(stored.seq);
    if (duplicate) {
      exchange.setStatus(200);
      exchange.setHeader('Idempotent-Replayed', 'true');
    }
    return stored;
  }
}

function eventOf(body: unknown, key: string | undefined): EventInput {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidInputError('must be an event, as a JSON object', 'body');
  }
  const event = body as EventInput;
  if (key === undefined || event.id === key) return event;
  // An empty key would store an event as often as it is sent, and of another key servers get other letters.
  if (!/^[ -~]+$/.test(key))
    throw new InvalidInputError('must be of ASCII; other ids stand in the event', 'Idempotency-Key');
  if (event.id !== undefined) throw new InvalidInputError('is not the id of the event', 'Idempotency-Key');
  return { ...event, id: key };
}
