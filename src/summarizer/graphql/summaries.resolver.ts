import { Args, Info, Mutation, Query } from '@nestjs/graphql';
import type { SessionKey } from '../../sessions/domain/ids.js';
import { checkedLimit } from '../../sessions/domain/paging.js';
import { referenceTo } from '../../sessions/domain/session.js';
import { RequireAccess } from '../../sessions/transport/session-access.js';
import { SUMMARISES } from '../../sessions/transport/request-writes.js';
import { type FieldInfo, ResponseBudget, costOf } from '../../sessions/graphql/limits/response-budget.js';
import { AnswersWithWork } from '../../sessions/graphql/limits/document-cost.js';
import { omitNulls, SessionArguments } from '../../sessions/graphql/types/arguments.js';
import { SessionFields } from '../../sessions/graphql/access.guard.js';
import { SummarizerSessionManager } from '../summarizer-session.manager.js';
import { CreateSummaryArguments, SessionSummaryObject, SummaryPageArguments } from './summary.types.js';

interface CreateRequest extends SessionKey {
  readonly force?: boolean | undefined;
}

interface PageRequest extends SessionKey {
  readonly first?: number | undefined;
  readonly afterSeq?: number | undefined;
}

/** Summaries of a session: reads the current one, writes a new one, lists all. */
@SessionFields()
export class SummariesResolver {
  constructor(private readonly summaries: SummarizerSessionManager) {}

  @Query(() => SessionSummaryObject, {
    nullable: true,
    description: 'The summary that readers of a session see, or null if there is none.',
  })
  @RequireAccess('read', 'session')
  async sessionSummary(
    @Args({ type: () => SessionArguments }) key: SessionKey,
    @Info() info: FieldInfo,
  ): Promise<SessionSummaryObject | undefined> {
    return ResponseBudget.of(info).read(
      () => this.summaries.getSessionSummary(key),
      (found) => costOf(found ? [found] : [], info),
    );
  }

  @Query(() => [SessionSummaryObject], {
    description: 'The summaries in the log, oldest first, also those that readers no longer see.',
  })
  @RequireAccess('read', 'session')
  async sessionSummaries(
    @Args({ type: () => SummaryPageArguments }) args: PageRequest,
    @Info() info: FieldInfo,
  ): Promise<SessionSummaryObject[]> {
    const { first, afterSeq, ...key } = omitNulls(args);
    const limit = checkedLimit(first, 'first');
    return ResponseBudget.of(info).read(
      () => this.summaries.listSummaries({ ...key, afterSeq, limit }),
      (found) => costOf(found, info),
    );
  }

  @Mutation(() => SessionSummaryObject, {
    nullable: true,
    description: 'Summarises a session now, if a summary is due or by force; null if there was nothing to do.',
  })
  @AnswersWithWork()
  @RequireAccess('write', 'session', SUMMARISES)
  async createSessionSummary(
    @Args({ type: () => CreateSummaryArguments }) args: CreateRequest,
  ): Promise<SessionSummaryObject | undefined> {
    const { force, ...key } = omitNulls(args);
    return this.summaries.createSessionSummary({ session: referenceTo(key), force });
  }
}
