import { Inject, UseFilters } from '@nestjs/common';
import { Args, Info, Parent, Query, ResolveField } from '@nestjs/graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { SessionNotFoundError } from '../domain/errors/errors.js';
import type { SessionKey } from '../domain/values/ids.js';
import type { Session } from '../domain/session/session.js';
import type { GetSessionConfig } from '../domain/view/view-config.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { KEY_FIELDS } from '../surface/ids-and-pages.js';
import { EVENT, eventNode } from '../surface/event-shapes.js';
import { NARROWING, SESSION, type SessionNode, sessionNode } from '../surface/session-shapes.js';
import { AccessChecks } from '../transport/access-checks.js';
import { RequireAccess } from '../transport/session-access.js';
import { CurrentRequest, SessionFields } from './access.guard.js';
import { graphqlErrorOf, NullForMissingFilter } from './graphql-errors.js';
import { ResponseBudget, measureResponseCost } from './limits/response-budget.js';
import { argumentsType, objectTypeOf } from './make-types.js';
import { omitNulls } from './omit-nulls.js';
import { requestedEvents } from './selected-fields.js';

const SessionType = objectTypeOf(SESSION);
const EventType = objectTypeOf(EVENT);
const Key = argumentsType({ ids: Object.keys(KEY_FIELDS) });
const Narrowing = argumentsType({ request: NARROWING });

/** A session with the events that a document selects, which are read with it. */
@SessionFields(() => SessionType)
export class SessionViewResolver {
  constructor(
    @Inject(SERVED_SESSIONS) private readonly sessions: SessionService,
    private readonly access: AccessChecks,
  ) {}

  @Query(() => SessionType, { nullable: true, description: 'The session with its view, or null.' })
  @RequireAccess('read', 'session')
  @UseFilters(NullForMissingFilter)
  async session(
    @Args({ type: () => Key }) key: SessionKey,
    @Info() info: GraphQLResolveInfo,
  ): Promise<SessionNode | null> {
    const config = requestedEvents(info);
    const read = (): Promise<Session | undefined> => this.sessions.getSession({ ...key, config });
    // Its events are counted in `events`.
    const session = await ResponseBudget.of(info).read(read, (found) =>
      measureResponseCost(found ? [[found.state, found.metadata]] : [], info),
    );
    return session ? sessionNode(session, config) : null;
  }

  /** Already read with the session, unless the arguments differ. */
  @ResolveField(() => [EventType], {
    description: 'The view of the conversation, narrowed by the arguments.',
  })
  async events(
    @Parent() { narrowing, events, appName, userId, id: sessionId }: SessionNode,
    @Args({ type: () => Narrowing }) args: GetSessionConfig,
    @CurrentRequest() request: unknown,
    @Info() info: GraphQLResolveInfo,
  ): Promise<object[]> {
    const config = omitNulls(args);
    const budget = ResponseBudget.of(info);
    if (isSameNarrowing(config, narrowing)) {
      budget.spend(measureResponseCost(events, info));
      return events.map(eventNode);
    }
    const key = { appName, userId, sessionId };
    try {
      await this.access.check({ action: 'read', target: 'session', ...key, request }, { isPart: true });
      const read = (): Promise<Session | undefined> => this.sessions.getSession({ ...key, config });
      const session = await budget.read(read, (found) => measureResponseCost(found?.events ?? [], info));
      if (!session) throw new SessionNotFoundError(sessionId);
      return session.events.map(eventNode);
    } catch (error) {
      // Filters do not reach fields of objects.
      throw graphqlErrorOf(error, key);
    }
  }
}

function isSameNarrowing(one: GetSessionConfig, other: GetSessionConfig): boolean {
  return Object.keys(NARROWING).every((name) => Object.is(Reflect.get(one, name), Reflect.get(other, name)));
}
