import { Inject } from '@nestjs/common';
import { Args, Info, Mutation, Query, Subscription } from '@nestjs/graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { InvalidInputError } from '../domain/errors.js';
import type { EventInput } from '../domain/event.js';
import type { SessionKey } from '../domain/ids.js';
import { isPlainObject } from '../domain/json-value.js';
import { checkedLimit } from '../domain/paging.js';
import { referenceTo } from '../domain/session.js';
import type { WatchedEvent } from '../operations/state-history.js';
import { AccessChecks } from '../transport/access-checks.js';
import { NO_EVENTS } from '../transport/stream-access.js';
import { READING_SECONDS } from '../transport/answer-memory.js';
import { endStalled } from './connections/web-socket-server.js';
import { RequireAccess } from '../transport/session-access.js';
import { APPENDS_EVENT, APPENDS_EVENTS } from '../transport/request-writes.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { type SubscriptionRequest, CurrentRequest, SessionFields } from './access.guard.js';
import {
  AppendBatchResultObject,
  AppendResultObject,
  EventConnectionObject,
  eventNode,
  pageInfoOf,
  WatchedEventObject,
} from './types/object-types.js';
import { EventStream } from './event-stream.js';
import {
  type EventPageRequest,
  AppendEventArguments,
  AppendEventsArguments,
  EventPageArguments,
  omitNulls,
  WatchArguments,
} from './types/arguments.js';
import { graphqlErrorOf } from './graphql-errors.js';
import { ResponseBudget, copiesIn, costOf } from './limits/response-budget.js';

interface AppendRequest extends SessionKey {
  /** The event of the request, unchanged. */
  readonly event: unknown;
  readonly expectedVersion?: number | undefined;
  readonly turn?: string | undefined;
  readonly endTurn?: boolean | undefined;
}

interface AppendBatchRequest extends SessionKey {
  /** The events of the request, unchanged. */
  readonly events: readonly unknown[];
  readonly expectedVersion?: number | undefined;
  readonly turn?: string | undefined;
  readonly endTurn?: boolean | undefined;
}

interface WatchRequest extends SessionKey {
  readonly afterSeq?: number | undefined;
  readonly stateDeltas?: boolean | undefined;
  readonly partials?: boolean | undefined;
  readonly afterPosition?: string | undefined;
}

/** The log of a session. */
@SessionFields()
export class EventsResolver {
  constructor(
    @Inject(SERVED_SESSIONS) private readonly sessions: SessionService,
    private readonly access: AccessChecks,
  ) {}

  @Query(() => EventConnectionObject, {
    description: 'A page of the whole log, including rewound and summarised events.',
  })
  @RequireAccess('read', 'session')
  async events(
    @Args({ type: () => EventPageArguments }) args: EventPageRequest,
    @Info() info: GraphQLResolveInfo,
  ): Promise<EventConnectionObject> {
    const { first, after, ...how } = omitNulls(args);
    const limit = checkedLimit(first, 'first');
    const { events, firstSeq, lastSeq, nextCursor } = await ResponseBudget.of(info).read(
      () => this.sessions.listEvents({ ...how, limit, cursor: after }),
      (page) => costOf(page.events, info, 'nodes'),
    );
    return { nodes: events.map(eventNode), pageInfo: pageInfoOf(nextCursor), firstSeq, lastSeq };
  }

  @Mutation(() => AppendResultObject, { description: 'Appends an event. A repeated event is stored once.' })
  @RequireAccess('write', 'session', APPENDS_EVENT)
  async appendEvent(@Args({ type: () => AppendEventArguments }) args: AppendRequest): Promise<AppendResultObject> {
    const { expectedVersion, turn, endTurn, ...rest } = omitNulls(args);
    const event = eventOf(rest.event);
    if (event.partial === true) return { duplicate: false };
    const result = await this.sessions.append({ session: referenceTo(rest), event, expectedVersion, turn, endTurn });
    return { event: eventNode(result.event), duplicate: result.duplicate };
  }

  @Mutation(() => AppendBatchResultObject, {
    description: 'Appends several events, all or none. Repeated events are stored once.',
  })
  @RequireAccess('write', 'session', APPENDS_EVENTS)
  async appendEvents(
    @Args({ type: () => AppendEventsArguments }) args: AppendBatchRequest,
    @Info() info: GraphQLResolveInfo,
  ): Promise<AppendBatchResultObject> {
    const { expectedVersion, turn, endTurn, events, ...key } = omitNulls(args);
    // Before the write: an answer that is too large must not look like a failed append.
    ResponseBudget.of(info).spend(costOf(events, info, 'events'));
    const session = referenceTo(key);
    const request = { session, events: events as EventInput[], expectedVersion, turn, endTurn };
    const result = await this.sessions.appendBatch(request);
    return {
      events: result.events.map((event) => (event.partial ? null : eventNode(event))),
      duplicate: result.duplicate,
    };
  }

  @Subscription(() => WatchedEventObject, {
    description: 'Streams the events of the log, including summaries and rewinds, each exactly once.',
    resolve: arrived,
  })
  @RequireAccess('read', 'session')
  async eventAppended(
    @Args({ type: () => WatchArguments }) args: WatchRequest,
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
function arrived(watched: WatchedEvent | undefined): WatchedEventObject {
  if (watched) {
    const { statePatch, position, offset, ...event } = watched;
    return { ...eventNode(event), statePatch, partial: event.partial === true, position, offset };
  }
  throw graphqlErrorOf(new InvalidInputError('is a subscription: ask for it over graphql-ws', 'eventAppended'));
}

function eventOf(event: unknown): EventInput {
  if (isPlainObject(event)) return event;
  throw new InvalidInputError('must be an event, as a JSON object', 'event');
}
