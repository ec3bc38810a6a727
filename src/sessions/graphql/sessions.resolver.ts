import { UseFilters } from '@nestjs/common';
import { Args, Info, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { SessionNotFoundError } from '../domain/errors.js';
import type { SessionKey } from '../domain/ids.js';
import type { GetSessionConfig } from '../domain/narrowing.js';
import { checkedLimit } from '../domain/paging.js';
import { checkAccess } from '../faces/access-checks.js';
import { SessionAccess } from '../faces/session-access.js';
import { viewOf } from '../faces/session-view.js';
import { SessionService } from '../session.service.js';
import { Asker } from './asker.js';
import { type EventNode, eventNode } from './event-node.js';
import { given } from './given.js';
import { graphqlErrorOf } from './graphql-errors.js';
import { GraphqlProblemFilter } from './graphql-problem.filter.js';
import { requestedEvents } from './requested-events.js';
import { type ShownSession, isSameNarrowing, shownSession } from './shown-session.js';
import { NarrowingArguments, SessionArguments, SessionPageArguments } from './types/arguments.js';
import { EventObject } from './types/event.type.js';
import { pageInfoOf } from './types/page-info.type.js';
import { SessionConnectionObject, SessionObject } from './types/session.type.js';
import type { SessionPageRequest } from './page-requests.js';

/** Sessions as they are read: one with its view, or pages of many. */
@Resolver(() => SessionObject)
@UseFilters(GraphqlProblemFilter)
export class SessionsResolver {
  constructor(
    private readonly sessions: SessionService,
    private readonly access: SessionAccess,
  ) {}

  @Query(() => SessionObject, { nullable: true, description: 'The session with its view, or null if there is none.' })
  async session(
    @Args({ type: () => SessionArguments }) key: SessionKey,
    @Asker() request: unknown,
    @Info() info: GraphQLResolveInfo,
  ): Promise<ShownSession | null> {
    try {
      await checkAccess(this.access, { action: 'read', target: 'session', ...key, request });
    } catch (error) {
      if (error instanceof SessionNotFoundError) return null;
      throw error;
    }
    const config = requestedEvents(info);
    const session = await this.sessions.getSession({ ...key, config });
    return session ? shownSession(session, config) : null;
  }

  /** Read before, unless they are asked for in another way than the session was read. */
  @ResolveField(() => [EventObject], { description: 'The view of the conversation, narrowed as asked for.' })
  async events(
    @Parent() { narrowing, events, appName, userId, id: sessionId }: ShownSession,
    @Args({ type: () => NarrowingArguments }) args: GetSessionConfig,
    @Asker() request: unknown,
  ): Promise<EventNode[]> {
    const config = given(args);
    if (isSameNarrowing(config, narrowing)) return events.map(eventNode);
    try {
      const key = { appName, userId, sessionId };
      await checkAccess(this.access, { action: 'read', target: 'session', ...key, request });
      const session = await this.sessions.getSession({ ...key, config });
      if (!session) throw new SessionNotFoundError(sessionId);
      return session.events.map(eventNode);
    } catch (error) {
      // Filters do not reach fields of objects.
      throw graphqlErrorOf(error);
    }
  }

  @Query(() => SessionConnectionObject, {
    name: 'sessions',
    description: "A page of a user's sessions, or of all sessions of an app.",
  })
  async listSessions(
    @Args({ type: () => SessionPageArguments }) args: SessionPageRequest,
    @Asker() request: unknown,
  ): Promise<SessionConnectionObject> {
    const { first, after, ...how } = given(args);
    const { appName, userId } = how;
    await checkAccess(this.access, { action: 'list', target: 'sessions', appName, userId, request });
    const limit = checkedLimit(first, 'first');
    const { sessions, nextCursor } = await this.sessions.listSessions({ ...how, limit, cursor: after });
    return { nodes: sessions.map(viewOf), pageInfo: pageInfoOf(nextCursor) };
  }
}
