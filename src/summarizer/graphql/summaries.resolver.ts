import { UseFilters } from '@nestjs/common';
import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import type { SessionKey } from '../../sessions/domain/ids.js';
import { checkedLimit } from '../../sessions/domain/paging.js';
import { checkAccess } from '../../sessions/faces/access-checks.js';
import { SessionAccess } from '../../sessions/faces/session-access.js';
import { Asker } from '../../sessions/graphql/asker.js';
import { given } from '../../sessions/graphql/given.js';
import { GraphqlProblemFilter } from '../../sessions/graphql/graphql-problem.filter.js';
import { SessionArguments } from '../../sessions/graphql/types/arguments.js';
import { SummarizerSessionManager } from '../summarizer-session.manager.js';
import { CreateSummaryArguments, SummaryPageArguments } from './arguments.js';
import { SessionSummaryObject } from './session-summary.type.js';

interface CreateRequest extends SessionKey {
  readonly force?: boolean | undefined;
}

interface PageRequest extends SessionKey {
  readonly first?: number | undefined;
  readonly afterSeq?: number | undefined;
}

/** Summaries of a session: the one in force, a new one, all that there were. */
@Resolver()
@UseFilters(GraphqlProblemFilter)
export class SummariesResolver {
  constructor(
    private readonly summaries: SummarizerSessionManager,
    private readonly access: SessionAccess,
  ) {}

  @Query(() => SessionSummaryObject, {
    nullable: true,
    description: 'The summary that readers of a session see, or null if there is none.',
  })
  async sessionSummary(
    @Args({ type: () => SessionArguments }) key: SessionKey,
    @Asker() request: unknown,
  ): Promise<SessionSummaryObject | undefined> {
    await checkAccess(this.access, { action: 'read', target: 'session', ...key, request });
    return this.summaries.getSessionSummary(key);
  }

  @Query(() => [SessionSummaryObject], {
    description: 'The summaries that the log keeps, oldest first, those that are not in force any more included.',
  })
  async sessionSummaries(
    @Args({ type: () => SummaryPageArguments }) args: PageRequest,
    @Asker() request: unknown,
  ): Promise<SessionSummaryObject[]> {
    const { first, afterSeq, ...key } = given(args);
    await checkAccess(this.access, { action: 'read', target: 'session', ...key, request });
    return this.summaries.listSummaries({ ...key, afterSeq, limit: checkedLimit(first, 'first') });
  }

  @Mutation(() => SessionSummaryObject, {
    nullable: true,
    description: 'Summarises a session now, if that is due, or by force; null where there was nothing to do.',
  })
  async createSessionSummary(
    @Args({ type: () => CreateSummaryArguments }) args: CreateRequest,
    @Asker() request: unknown,
  ): Promise<SessionSummaryObject | undefined> {
    const { appName, userId, sessionId, force } = given(args);
    await checkAccess(this.access, { action: 'write', target: 'session', appName, userId, sessionId, request });
    return this.summaries.createSessionSummary({ session: { id: sessionId, appName, userId }, force });
  }
}
