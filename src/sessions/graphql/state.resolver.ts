import { Inject } from '@nestjs/common';
import { Args, Info, Mutation, Query } from '@nestjs/graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { jsonBytes } from '../domain/byte-budget.js';
import type { SessionKey, UserKey } from '../domain/ids.js';
import { referenceTo } from '../domain/session.js';
import { RequireAccess } from '../transport/session-access.js';
import { CHANGES_APP_STATE, CHANGES_STATE, CHANGES_USER_STATE } from '../transport/request-writes.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { type EventNode, eventNode, EventObject } from './types/object-types.js';
import {
  AppArguments,
  AppStateArguments,
  omitNulls,
  SessionStateArguments,
  UserArguments,
  UserStateArguments,
} from './types/arguments.js';
import { ResponseBudget, type ResponseCost } from './limits/response-budget.js';
import { SessionFields } from './access.guard.js';
import { JSON_SCALAR } from './types/scalars.js';

type State = Record<string, unknown>;

/** Unchecked: the domain rules validate them. */
interface Changes {
  readonly stateDelta?: State | undefined;
  readonly stateRemovals?: string[] | undefined;
}

const costOfState = (state: State): ResponseCost => ({ items: 1, bytes: jsonBytes(state) });

/** State: of a session, of a user, of an app. */
@SessionFields()
export class StateResolver {
  constructor(@Inject(SERVED_SESSIONS) private readonly sessions: SessionService) {}

  @Query(() => JSON_SCALAR, { description: 'The state that all sessions of a user share.' })
  @RequireAccess('read', 'userState')
  async userState(
    @Args({ type: () => UserArguments }) user: UserKey,
    @Info() info: GraphQLResolveInfo,
  ): Promise<State> {
    return ResponseBudget.of(info).read(() => this.sessions.getUserState(user), costOfState);
  }

  @Query(() => JSON_SCALAR, { description: 'The state that all sessions of an app share.' })
  @RequireAccess('read', 'appState')
  async appState(
    @Args({ type: () => AppArguments }) { appName }: { appName: string },
    @Info() info: GraphQLResolveInfo,
  ): Promise<State> {
    return ResponseBudget.of(info).read(() => this.sessions.getAppState({ appName }), costOfState);
  }

  @Mutation(() => EventObject, {
    description: 'Changes state with one event by the author system, and returns the event.',
  })
  @RequireAccess('write', 'session', CHANGES_STATE)
  async updateSessionState(
    @Args({ type: () => SessionStateArguments })
    args: SessionKey & Changes & { expectedVersion?: number; turn?: string; endTurn?: boolean },
  ): Promise<EventNode> {
    const { appName, userId, sessionId, expectedVersion, turn, endTurn, ...changes } = omitNulls(args);
    const session = referenceTo({ appName, userId, sessionId });
    const event = { author: 'system', actions: changes };
    return eventNode(await this.sessions.appendEvent({ session, event, expectedVersion, turn, endTurn }));
  }

  @Mutation(() => JSON_SCALAR, {
    description: 'Changes the state that all sessions of a user share, and returns all of it.',
  })
  @RequireAccess('write', 'userState', CHANGES_USER_STATE)
  async updateUserState(@Args({ type: () => UserStateArguments }) args: UserKey & Changes): Promise<State> {
    return this.sessions.updateUserState(omitNulls(args));
  }

  @Mutation(() => JSON_SCALAR, {
    description: 'Changes the state that all sessions of an app share, and returns all of it.',
  })
  @RequireAccess('write', 'appState', CHANGES_APP_STATE)
  async updateAppState(
    @Args({ type: () => AppStateArguments }) args: { readonly appName: string } & Changes,
  ): Promise<State> {
    return this.sessions.updateAppState(omitNulls(args));
  }
}
