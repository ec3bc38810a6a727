import { Args, Mutation, Info, Parent, Query, ResolveField } from '@nestjs/graphql';
import { type SessionKey, isBlank } from '../domain/ids.js';
import type { SessionFilter } from '../domain/submitted-metadata.js';
import { AccessChecks } from '../transport/access-checks.js';
import { AccessFilter } from '../transport/access-filter.js';
import { RequireAccess } from '../transport/session-access.js';
import { CREATES, FORKS, REWINDS } from '../transport/request-writes.js';
import type { CreateSessionRequest } from '../operations/create-session.js';
import type { ForkSessionRequest } from '../operations/fork-session.js';
import type { RewindSessionRequest } from '../operations/rewind-session.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { CurrentRequest, SessionFields } from './access.guard.js';
import {
  type SessionPageRequest,
  CreateSessionArguments,
  ForkArguments,
  NarrowingArguments,
  omitNulls,
  RewindArguments,
  SessionArguments,
  SessionPageArguments,
} from './types/arguments.js';
import {
  type EventNode,
  type SessionNode,
  eventNode,
  EventObject,
  isSameNarrowing,
  pageInfoOf,
  SessionConnectionObject,
  sessionNode,
  SessionObject,
} from './types/object-types.js';
import { Inject, UseFilters } from '@nestjs/common';
import type { GraphQLResolveInfo } from 'graphql';
import { SessionNotFoundError } from '../domain/errors.js';
import type { GetSessionConfig } from '../domain/view-item.js';
import { checkedLimit } from '../domain/paging.js';
import { type Session, viewOf } from '../domain/session.js';
import { graphqlErrorOf, NullForMissingFilter } from './graphql-errors.js';
import { ResponseBudget, costOf } from './limits/response-budget.js';
import { isSelected, requestedEvents } from './selected-fields.js';

/** Queries and mutations of sessions. */
@SessionFields(() => SessionObject)
export class SessionsResolver {
  constructor(
    @Inject(SERVED_SESSIONS) private readonly sessions: SessionService,
    private readonly access: AccessChecks,
  ) {}

  @Query(() => SessionObject, { nullable: true, description: 'The session with its view, or null.' })
  @RequireAccess('read', 'session')
  @UseFilters(NullForMissingFilter)
  async session(
    @Args({ type: () => SessionArguments }) key: SessionKey,
    @Info() info: GraphQLResolveInfo,
  ): Promise<SessionNode | null> {
    const config = requestedEvents(info);
    const read = (): Promise<Session | undefined> => this.sessions.getSession({ ...key, config });
    // Its events are counted in `events`.
    const session = await ResponseBudget.of(info).read(read, (found) =>
      costOf(found ? [[found.state, found.metadata]] : [], info),
    );
    return session ? sessionNode(session, config) : null;
  }

  /** Already read with the session, unless the arguments differ. */
  @ResolveField(() => [EventObject], { description: 'The view of the conversation, narrowed by the arguments.' })
  async events(
    @Parent() { narrowing, events, appName, userId, id: sessionId }: SessionNode,
    @Args({ type: () => NarrowingArguments }) args: GetSessionConfig,
    @CurrentRequest() request: unknown,
    @Info() info: GraphQLResolveInfo,
  ): Promise<EventNode[]> {
    const config = omitNulls(args);
    const budget = ResponseBudget.of(info);
    if (isSameNarrowing(config, narrowing)) {
      budget.spend(costOf(events, info));
      return events.map(eventNode);
    }
    try {
      const key = { appName, userId, sessionId };
      await this.access.check({ action: 'read', target: 'session', ...key, request });
      const read = (): Promise<Session | undefined> => this.sessions.getSession({ ...key, config });
      const session = await budget.read(read, (found) => costOf(found?.events ?? [], info));
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
  @RequireAccess('list', 'sessions')
  async listSessions(
    @Args({ type: () => SessionPageArguments }) args: SessionPageRequest,
    @AccessFilter() within: SessionFilter | undefined,
    @Info() info: GraphQLResolveInfo,
  ): Promise<SessionConnectionObject> {
    const { first, after, ...how } = omitNulls(args);
    const limit = checkedLimit(first, 'first');
    const includeState = isSelected('state', info, 'nodes');
    const { sessions, nextCursor } = await ResponseBudget.of(info).read(
      () => this.sessions.listSessions({ ...how, within, limit, cursor: after, includeState }),
      (page) => costOf(page.sessions, info, 'nodes'),
    );
    return { nodes: sessions.map(viewOf), pageInfo: pageInfoOf(nextCursor) };
  }

  @Mutation(() => SessionObject, { description: 'Creates a session. Fails if the id is in use.' })
  @RequireAccess('create', 'sessions', CREATES)
  async createSession(@Args({ type: () => CreateSessionArguments }) args: CreateSessionRequest): Promise<SessionNode> {
    return sessionNode(await this.sessions.createSession(omitNulls(args)));
  }

  @Mutation(() => SessionObject, { description: 'Returns the session with this id, and creates it if needed.' })
  @RequireAccess('create', 'sessions', CREATES)
  async getOrCreateSession(
    @Args({ type: () => CreateSessionArguments }) args: CreateSessionRequest,
    @CurrentRequest() request: unknown,
  ): Promise<SessionNode> {
    const wanted = omitNulls(args);
    const { appName, userId, sessionId } = wanted;
    // An existing session is returned, so reading must be allowed too.
    if (!isBlank(sessionId)) {
      const asked = { action: 'read', target: 'session', appName, userId, sessionId, request } as const;
      await this.access.check(asked, { mayBeMissing: true });
    }
    return sessionNode(await this.sessions.getOrCreateSession(wanted));
  }

  @Mutation(() => Boolean, { description: 'Deletes a session. Always true. Shared state stays.' })
  @RequireAccess('delete', 'session')
  async deleteSession(@Args({ type: () => SessionArguments }) key: SessionKey): Promise<boolean> {
    await this.sessions.deleteSession(key);
    return true;
  }

  @Mutation(() => SessionObject, { description: 'Rewinds a session and its own state.' })
  @RequireAccess('write', 'session', REWINDS)
  async rewindSession(
    @Args({ type: () => RewindArguments }) args: RewindSessionRequest,
    @CurrentRequest() request: unknown,
  ): Promise<SessionNode> {
    const onServerState = this.access.serverStateCheck(args, request, 'rewind');
    return sessionNode(await this.sessions.rewindSession({ ...omitNulls(args), onServerState }));
  }

  @Mutation(() => SessionObject, {
    description: 'Creates a session from this one, as it is or as it was after an event.',
  })
  @RequireAccess('write', 'session', FORKS)
  async forkSession(
    @Args({ type: () => ForkArguments }) args: ForkSessionRequest,
    @CurrentRequest() request: unknown,
  ): Promise<SessionNode> {
    await this.access.checkFork(args, request);
    const onServerState = this.access.serverStateCheck(args, request, 'fork');
    return sessionNode(await this.sessions.forkSession({ ...omitNulls(args), onServerState }));
  }
}
