import { UseFilters } from '@nestjs/common';
import { Args, Mutation, Query, Resolver, Subscription } from '@nestjs/graphql';
import { InvalidInputError } from '../domain/errors.js';
import type { EventInput, LoggedEvent } from '../domain/event.js';
import type { SessionKey } from '../domain/ids.js';
import { isPlainObject } from '../domain/json-value.js';
import { checkedLimit } from '../domain/paging.js';
import { checkAccess, checkSharedWrites } from '../faces/access-checks.js';
import { SessionAccess } from '../faces/session-access.js';
import { SessionService } from '../session.service.js';
import { Asker } from './asker.js';
import { type EventNode, eventNode } from './event-node.js';
import { EventStream } from './event-stream.js';
import { given } from './given.js';
import { graphqlErrorOf } from './graphql-errors.js';
import { GraphqlProblemFilter } from './graphql-problem.filter.js';
import type { EventPageRequest } from './page-requests.js';
import { AppendEventArguments, EventPageArguments, WatchArguments } from './types/arguments.js';
import { AppendResultObject, EventConnectionObject, EventObject } from './types/event.type.js';
import { pageInfoOf } from './types/page-info.type.js';

interface AppendRequest extends SessionKey {
  /** As it came. */
  readonly event: unknown;
  readonly expectedVersion?: number | undefined;
}

interface WatchRequest extends SessionKey {
  readonly afterSeq?: number | undefined;
}

/** The log of a session. */
@Resolver()
@UseFilters(GraphqlProblemFilter)
export class EventsResolver {
  constructor(
    private readonly sessions: SessionService,
    private readonly access: SessionAccess,
  ) {}

  @Query(() => EventConnectionObject, {
    description: 'A page of the whole log, rewound and summarised events included.',
  })
  async events(
    @Args({ type: () => EventPageArguments }) args: EventPageRequest,
    @Asker() request: unknown,
  ): Promise<EventConnectionObject> {
    const { first, after, ...how } = given(args);
    const { appName, userId, sessionId } = how;
    await checkAccess(this.access, { action: 'read', target: 'session', appName, userId, sessionId, request });
    const limit = checkedLimit(first, 'first');
    const { events, firstSeq, lastSeq, nextCursor } = await this.sessions.listEvents({ ...how, limit, cursor: after });
    return { nodes: events.map(eventNode), pageInfo: pageInfoOf(nextCursor), firstSeq, lastSeq };
  }

  @Mutation(() => AppendResultObject, { description: 'Appends an event; the same one sent again is stored once.' })
  async appendEvent(
    @Args({ type: () => AppendEventArguments }) args: AppendRequest,
    @Asker() request: unknown,
  ): Promise<AppendResultObject> {
    const { sessionId: id, expectedVersion, ...rest } = given(args);
    const { appName, userId } = rest;
    await checkAccess(this.access, { action: 'write', target: 'session', appName, userId, sessionId: id, request });
    const event = eventOf(rest.event);
    const { stateDelta, stateRemovals } = event.actions ?? {};
    await checkSharedWrites(this.access, { appName, userId, stateDelta, stateRemovals, request });
    if (event.partial === true) return { duplicate: false };
    const result = await this.sessions.append({ session: { id, appName, userId }, event, expectedVersion });
    return { event: eventNode(result.event), duplicate: result.duplicate };
  }

  @Subscription(() => EventObject, {
    description: 'The events of the log as they come, summaries and rewinds included: none is left out, none twice.',
    resolve: arrived,
  })
  eventAppended(@Args({ type: () => WatchArguments }) args: WatchRequest, @Asker() request: unknown): EventStream {
    return new EventStream(this.#watch(given(args), request));
  }

  async #watch(wanted: WatchRequest, request: unknown): Promise<AsyncIterableIterator<LoggedEvent>> {
    const { appName, userId, sessionId } = wanted;
    await checkAccess(this.access, { action: 'read', target: 'session', appName, userId, sessionId, request });
    return this.sessions.watch(wanted);
  }
}

/** Over HTTP a subscription is run as if it were a query, with no event at all. */
function arrived(event: LoggedEvent | undefined): EventNode {
  if (event) return eventNode(event);
  throw graphqlErrorOf(new InvalidInputError('is a subscription: ask for it over graphql-ws', 'eventAppended'));
}

function eventOf(event: unknown): EventInput {
  if (isPlainObject(event)) return event;
  throw new InvalidInputError('must be an event, as a JSON object', 'event');
}
