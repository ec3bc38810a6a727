import { Controller, Get, Param, Post, Query, UseFilters, UseGuards } from '@nestjs/common';
import { checkedLimit } from '../../sessions/domain/paging.js';
import { AccessGuard, Needs } from '../../sessions/rest/access.guard.js';
import { ConditionGuard } from '../../sessions/rest/condition.guard.js';
import { EnvelopePipe } from '../../sessions/rest/envelope.pipe.js';
import { numberOf } from '../../sessions/rest/envelopes.js';
import { type CurrentExchange, Exchange } from '../../sessions/rest/http-exchange.js';
import { JsonBody } from '../../sessions/rest/json-body.js';
import { ProblemFilter } from '../../sessions/rest/problem.filter.js';
import type { SessionParams } from '../../sessions/rest/route-params.js';
import type { SessionSummary } from '../session-summary.js';
import { SummarizerSessionManager } from '../summarizer-session.manager.js';
import { SummaryNotFoundError } from '../summary-errors.js';
import { ListSummariesQuery, SummaryBody } from './envelopes.js';

interface SummaryList {
  readonly summaries: SessionSummary[];
  readonly limit: number;
}

/** Summaries of a session: the one in force, a new one, all that there were. */
@Controller('apps/:appName/users/:userId/sessions/:sessionId')
@UseGuards(AccessGuard, ConditionGuard)
@UseFilters(ProblemFilter)
export class SummariesController {
  constructor(private readonly summaries: SummarizerSessionManager) {}

  @Get('summary')
  @Needs('read', 'session')
  async get(@Param() key: SessionParams): Promise<SessionSummary> {
    const summary = await this.summaries.getSessionSummary(key);
    if (!summary) throw new SummaryNotFoundError(key.sessionId);
    return summary;
  }

  /** Without `force`, only what is due is summarised; 204 where there was nothing to do. */
  @Post('summary')
  @Needs('write', 'session')
  async create(
    @Param() { sessionId: id, ...owner }: SessionParams,
    @JsonBody(new EnvelopePipe(SummaryBody)) { force }: Readonly<SummaryBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionSummary | undefined> {
    const summary = await this.summaries.createSessionSummary({ session: { id, ...owner }, force });
    exchange.setStatus(summary ? 201 : 204);
    return summary;
  }

  @Get('summaries')
  @Needs('read', 'session')
  async list(
    @Param() key: SessionParams,
    @Query(new EnvelopePipe(ListSummariesQuery)) query: Readonly<ListSummariesQuery>,
  ): Promise<SummaryList> {
    const limit = checkedLimit(numberOf(query.limit));
    const summaries = await this.summaries.listSummaries({ ...key, limit, afterSeq: numberOf(query.afterSeq) });
    return { summaries, limit };
  }
}
