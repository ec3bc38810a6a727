import { Inject } from '@nestjs/common';
import { Args, Info, Query } from '@nestjs/graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { jsonBytes } from '../domain/byte-budget.js';
import { checkedLimit } from '../domain/paging.js';
import type { StateKeyChange } from '../domain/state-history.js';
import type { StateAtRequest, StateChangesRequest } from '../operations/state-history.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { RequireAccess } from '../transport/session-access.js';
import { ResponseBudget, costOf } from './limits/response-budget.js';
import { omitNulls } from './types/arguments.js';
import { SessionFields } from './access.guard.js';
import { pageInfoOf } from './types/object-types.js';
import {
  StateAtArguments,
  StateAtObject,
  StateChangeConnectionObject,
  type StateChangeObject,
  StateChangesArguments,
} from './types/state-history.types.js';

type ChangesRequest = Omit<StateChangesRequest, 'limit' | 'cursor'> & {
  readonly first?: number | undefined;
  readonly after?: string | undefined;
};

/** The state of a session at any moment, and what changed it. */
@SessionFields()
export class StateHistoryResolver {
  constructor(@Inject(SERVED_SESSIONS) private readonly sessions: SessionService) {}

  @Query(() => StateAtObject, { description: 'The state of a session as it was after an event.' })
  @RequireAccess('read', 'session')
  async sessionStateAt(
    @Args({ type: () => StateAtArguments }) request: StateAtRequest,
    @Info() info: GraphQLResolveInfo,
  ): Promise<StateAtObject> {
    return ResponseBudget.of(info).read(
      () => this.sessions.stateAt(request),
      (found) => ({ items: 1, bytes: jsonBytes(found) }),
    );
  }

  @Query(() => StateChangeConnectionObject, {
    description: 'Which event changed which state key from what to what, in the order of the log.',
  })
  @RequireAccess('read', 'session')
  async sessionStateChanges(
    @Args({ type: () => StateChangesArguments }) args: ChangesRequest,
    @Info() info: GraphQLResolveInfo,
  ): Promise<StateChangeConnectionObject> {
    const { first, after, ...how } = omitNulls(args);
    const limit = checkedLimit(first, 'first');
    const { changes, firstSeq, lastSeq, nextCursor } = await ResponseBudget.of(info).read(
      () => this.sessions.stateChanges({ ...how, limit, cursor: after }),
      (page) => costOf(page.changes, info, 'nodes'),
    );
    return { nodes: changes.map(changeNode), pageInfo: pageInfoOf(nextCursor), firstSeq, lastSeq };
  }
}

/** GraphQL has no missing fields. */
function changeNode(change: StateKeyChange): StateChangeObject {
  return { ...change, hadBefore: Object.hasOwn(change, 'before'), hasAfter: Object.hasOwn(change, 'after') };
}
