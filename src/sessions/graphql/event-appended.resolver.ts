import { Inject } from '@nestjs/common';
import { Args, Info, Subscription } from '@nestjs/graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { InvalidInputError } from '../domain/errors/errors.js';
import type { SessionKey } from '../domain/values/ids.js';
import type { WatchedEvent } from '../operations/state-history.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { KEY_FIELDS } from '../surface/ids-and-pages.js';
import { WATCH, WATCHED_EVENT, eventNode } from '../surface/event-shapes.js';
import { AccessChecks } from '../transport/access-checks.js';
import { READING_SECONDS } from '../transport/answer-memory.js';
import { RequireAccess } from '../transport/session-access.js';
import { NO_EVENTS } from '../transport/stream-access.js';
import { type SubscriptionRequest, CurrentRequest, SessionFields } from './access.guard.js';
import { endStalled } from './connections/web-socket-server.js';
import { EventStream } from './event-stream.js';
import { graphqlErrorOf } from './graphql-errors.js';
import { copiesIn } from './limits/response-budget.js';
import { argumentsType, objectTypeOf } from './make-types.js';
import { omitNulls } from './omit-nulls.js';

const WatchedEventType = objectTypeOf(WATCHED_EVENT);
const Watch = argumentsType({ ids: Object.keys(KEY_FIELDS), request: WATCH });

interface WatchRequest extends SessionKey {
  readonly afterSeq?: number | undefined;
  readonly stateDeltas?: boolean | undefined;
  readonly partials?: boolean | undefined;
  readonly afterPosition?: string | undefined;
}

/** The subscription to the log of a session. */
@SessionFields()
export class EventAppendedResolver {
  constructor(
    @Inject(SERVED_SESSIONS) private readonly sessions: SessionService,
    private readonly access: AccessChecks,
  ) {}

  @Subscription(() => WatchedEventType, {
    description: 'Streams the events of the log, including summaries and rewinds, each exactly once.',
    resolve: arrived,
  })
  @RequireAccess('read', 'session')
  async eventAppended(
    @Args({ type: () => Watch }) args: WatchRequest,
    @CurrentRequest() request: SubscriptionRequest,
    @Info() info: GraphQLResolveInfo,
  ): Promise<EventStream> {
    const { afterSeq, stateDeltas, partials, afterPosition, ...key } = omitNulls(args);
    // A missing session is refused before the stream begins, like a forbidden one.
    const { lastSeq } = await this.sessions.listEvents({ ...key, ...NO_EVENTS });
    const access = this.access.followStream({ action: 'read', target: 'session', ...key, request });
    const { signal } = access;
    const endConnection = (): void => endStalled(request, READING_SECONDS);
    const gate = request.socket && access.gateTo(request.socket, copiesIn(info), endConnection);
    const start = { afterSeq: afterSeq ?? lastSeq, afterPosition };
    const events = this.sessions.watch({ ...key, ...start, stateDeltas, partials, signal, gate });
    return new EventStream(events, access);
  }
}

/** Over HTTP, Apollo runs a subscription like a query, without an event. */
function arrived(watched: WatchedEvent | undefined): object {
  if (watched) {
    const { statePatch, position, offset, ...event } = watched;
    return { ...eventNode(event), statePatch, partial: event.partial === true, position, offset };
  }
  throw graphqlErrorOf(new InvalidInputError('is a subscription: ask for it over graphql-ws', 'eventAppended'));
}
