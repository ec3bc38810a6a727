import { Get, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { checkedLimit } from '../../sessions/domain/paging.js';
import { referenceTo } from '../../sessions/domain/session.js';
import { RequireAccess } from '../../sessions/transport/session-access.js';
import { SUMMARISES } from '../../sessions/transport/request-writes.js';
import { AnswersWithWork, LargeAnswer } from '../../sessions/rest/answer.interceptor.js';
import { ApiResult, ApiIds, ApiProblem, ApiProblems } from '../../sessions/rest/api-responses.js';
import { DtoPipe } from '../../sessions/rest/dto.pipe.js';
import { numberOf } from '../../sessions/rest/dto/query.dto.js';
import { type CurrentExchange, Exchange } from '../../sessions/rest/http-exchange.js';
import { type SessionParams, JsonBody, SessionRoutes } from '../../sessions/rest/session-routes.js';
import type { SessionSummary } from '../session-summary.js';
import { SummarizerSessionManager } from '../summarizer-session.manager.js';
import { SummaryNotFoundError } from '../summary-errors.js';
import { ListSummariesQuery, SessionSummaryDto, SummaryBody, SummaryListDto } from './summary.dto.js';

const NOT_FOUND = {
  code: 'SUMMARY_NOT_FOUND',
  description:
    'The session has no summary; or, with the code `SESSION_NOT_FOUND`, there is no such session, or you may not see it.',
};
const FAILED = { code: 'SUMMARY_FAILED', description: 'The model returned no summary. Nothing changed.' };

/** Summaries of a session: reads the current one, writes a new one, lists all. */
@ApiTags('summaries')
@SessionRoutes('apps/:appName/users/:userId/sessions/:sessionId')
export class SummariesController {
  constructor(private readonly summaries: SummarizerSessionManager) {}

  @Get('summary')
  @RequireAccess('read', 'session')
  @LargeAnswer()
  @ApiOperation({ operationId: 'getSummary', summary: 'Returns the summary that readers of the session see' })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(200, 'The summary.', { type: SessionSummaryDto })
  @ApiProblems()
  @ApiProblem(404, NOT_FOUND)
  async get(@Param() key: SessionParams): Promise<SessionSummary> {
    const summary = await this.summaries.getSessionSummary(key);
    if (!summary) throw new SummaryNotFoundError(key.sessionId);
    return summary;
  }

  /** Without `force`, writes a summary only if one is due. Responds with 204 if there was nothing to do. */
  @Post('summary')
  @RequireAccess('write', 'session', SUMMARISES)
  @AnswersWithWork()
  @ApiOperation({
    operationId: 'createSummary',
    summary: 'Summarises the session now, if a summary is due or by force',
    description:
      'Waits for the model, and for a summary that is already being written. The newest events are not summarised.',
  })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: SummaryBody })
  @ApiResult(201, 'The new summary.', { type: SessionSummaryDto })
  @ApiResult(204, 'There was nothing to summarise.')
  @ApiProblems(403, 404, 413, 415)
  @ApiProblem(502, FAILED)
  async create(
    @Param() key: SessionParams,
    @JsonBody(new DtoPipe(SummaryBody)) { force }: Readonly<SummaryBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionSummary | undefined> {
    const summary = await this.summaries.createSessionSummary({ session: referenceTo(key), force });
    exchange.setStatus(summary ? 201 : 204);
    return summary;
  }

  @Get('summaries')
  @RequireAccess('read', 'session')
  @LargeAnswer()
  @ApiOperation({
    operationId: 'listSummaries',
    summary: 'Lists the summaries in the log, also those that readers no longer see',
  })
  @ApiQuery({ type: ListSummariesQuery })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(200, 'The summaries.', { type: SummaryListDto })
  @ApiProblems(404)
  async list(
    @Param() key: SessionParams,
    @Query(new DtoPipe(ListSummariesQuery)) query: Readonly<ListSummariesQuery>,
  ): Promise<SummaryListDto> {
    const limit = checkedLimit(numberOf(query.limit));
    const summaries = await this.summaries.listSummaries({ ...key, limit, afterSeq: numberOf(query.afterSeq) });
    return { summaries, limit };
  }
}
