import { UseFilters } from '@nestjs/common';
import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import type { SessionKey, UserKey } from '../domain/ids.js';
import { checkAccess, checkSharedWrites } from '../faces/access-checks.js';
import { SessionAccess } from '../faces/session-access.js';
import { SessionService } from '../session.service.js';
import { Asker } from './asker.js';
import { type EventNode, eventNode } from './event-node.js';
import { given } from './given.js';
import { GraphqlProblemFilter } from './graphql-problem.filter.js';
import { JSON_SCALAR } from './scalars/json.scalar.js';
import { AppArguments, UserArguments } from './types/arguments.js';
import { EventObject } from './types/event.type.js';
import { AppStateArguments, SessionStateArguments, UserStateArguments } from './types/state-arguments.js';

type State = Record<string, unknown>;

/** As they came: the rules of sessions check them. */
interface Changes {
  readonly stateDelta?: State | undefined;
  readonly stateRemovals?: string[] | undefined;
}

/** State: of a session, of a user, of an app. */
@Resolver()
@UseFilters(GraphqlProblemFilter)
export class StateResolver {
  constructor(
    private readonly sessions: SessionService,
    private readonly access: SessionAccess,
  ) {}

  @Query(() => JSON_SCALAR, { description: 'What all sessions of a user share.' })
  async userState(@Args({ type: () => UserArguments }) user: UserKey, @Asker() request: unknown): Promise<State> {
    await checkAccess(this.access, { action: 'read', target: 'userState', ...user, request });
    return this.sessions.getUserState(user);
  }

  @Query(() => JSON_SCALAR, { description: 'What all sessions of an app share.' })
  async appState(
    @Args({ type: () => AppArguments }) { appName }: { appName: string },
    @Asker() request: unknown,
  ): Promise<State> {
    await checkAccess(this.access, { action: 'read', target: 'appState', appName, request });
    return this.sessions.getAppState({ appName });
  }

  @Mutation(() => EventObject, { description: 'Changes state by an event of the author system, and answers with it.' })
  async updateSessionState(
    @Args({ type: () => SessionStateArguments }) args: SessionKey & Changes & { expectedVersion?: number },
    @Asker() request: unknown,
  ): Promise<EventNode> {
    const { appName, userId, sessionId: id, expectedVersion, ...changes } = given(args);
    await checkAccess(this.access, { action: 'write', target: 'session', appName, userId, sessionId: id, request });
    await checkSharedWrites(this.access, { appName, userId, ...changes, request });
    const event = { author: 'system', actions: changes };
    return eventNode(await this.sessions.appendEvent({ session: { id, appName, userId }, event, expectedVersion }));
  }

  @Mutation(() => JSON_SCALAR, {
    description: 'Changes what all sessions of a user share, and answers with all of it.',
  })
  async updateUserState(
    @Args({ type: () => UserStateArguments }) args: UserKey & Changes,
    @Asker() request: unknown,
  ): Promise<State> {
    const { appName, userId } = args;
    await checkAccess(this.access, { action: 'write', target: 'userState', appName, userId, request });
    return this.sessions.updateUserState(given(args));
  }

  @Mutation(() => JSON_SCALAR, {
    description: 'Changes what all sessions of an app share, and answers with all of it.',
  })
  async updateAppState(
    @Args({ type: () => AppStateArguments }) args: { readonly appName: string } & Changes,
    @Asker() request: unknown,
  ): Promise<State> {
    await checkAccess(this.access, { action: 'write', target: 'appState', appName: args.appName, request });
    return this.sessions.updateAppState(given(args));
  }
}
