import { Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiParam, ApiQuery, ApiTags } from '@nestjs/swagger';
import { DtoPipe } from '../../sessions/rest/dto.pipe.js';
import { AnswersWithWork, LargeAnswer } from '../../sessions/rest/answer.interceptor.js';
import { ApiIds, ApiProblem, ApiProblems, ApiResult } from '../../sessions/rest/api-responses.js';
import type { EventDto } from '../../sessions/rest/dto/event.dto.js';
import { numberOf } from '../../sessions/rest/dto/query.dto.js';
import { ID } from '../../sessions/rest/dto/session.dto.js';
import { JsonBody, type SessionParams, SessionRoutes, type UserParams } from '../../sessions/rest/session-routes.js';
import type { SessionFilter } from '../../sessions/domain/submitted-metadata.js';
import { AccessFilter } from '../../sessions/transport/access-filter.js';
import { RequireAccess } from '../../sessions/transport/session-access.js';
import { AgentRegistry } from '../agent-registry.js';
import { AgentSessions } from '../agent-sessions.js';
import type { PendingApprovalPage } from '../pending-approvals.js';
import { ApiEvents } from './agent-responses.js';
import { AnswerBody, ListApprovalsQuery, PendingApprovalPageDto } from './agent.dto.js';
import { APPROVES } from '../run-writes.js';

const NOT_FOUND = { code: 'APPROVAL_NOT_FOUND', description: 'The session waits for no such approval.' };
const ANSWERED = {
  code: 'APPROVAL_ANSWERED',
  description:
    'The approval has another answer already; or, with the code `APPROVAL_EXPIRED` or `APPROVAL_WITHDRAWN`, nobody can answer it any more.',
};

interface ApprovalParams extends SessionParams {
  readonly approvalId: string;
}

/** What the agents of an app ask a user. */
@ApiTags('agents')
@SessionRoutes('apps/:appName/users/:userId/approvals')
export class PendingApprovalsController {
  constructor(private readonly agents: AgentSessions) {}

  @Get()
  @RequireAccess('list', 'sessions')
  @LargeAnswer()
  @ApiOperation({ operationId: 'listApprovals', summary: 'Lists the approvals of a user that wait for an answer' })
  @ApiQuery({ type: ListApprovalsQuery })
  @ApiIds('appName', 'userId')
  @ApiResult(200, 'The pending approvals of a page of sessions.', { type: PendingApprovalPageDto })
  @ApiProblems(403)
  async list(
    @Param() user: UserParams,
    @Query(new DtoPipe(ListApprovalsQuery)) { limit, cursor }: Readonly<ListApprovalsQuery>,
    @AccessFilter() filter: SessionFilter | undefined,
  ): Promise<PendingApprovalPage> {
    return this.agents.pendingApprovals({ ...user, limit: numberOf(limit), cursor, filter });
  }
}

/** Answers what an agent asks. */
@ApiTags('agents')
@SessionRoutes('apps/:appName/users/:userId/sessions/:sessionId/approvals')
export class ApprovalsController {
  constructor(private readonly registry: AgentRegistry) {}

  @Post(':approvalId')
  @HttpCode(200)
  @RequireAccess('write', 'session', APPROVES)
  @AnswersWithWork()
  @ApiOperation({
    operationId: 'answerApproval',
    summary: 'Answers an approval, and goes on with the agent',
    description: 'Safe to repeat with the same answer.',
  })
  @ApiParam({ name: 'approvalId', schema: { ...ID, example: 'c-1@inv-7' } })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: AnswerBody })
  @ApiEvents('The events that follow the answer.')
  @ApiProblems(403, 413, 415)
  @ApiProblem(404, NOT_FOUND)
  @ApiProblem(409, ANSWERED)
  async answer(
    @Param() { approvalId, ...key }: ApprovalParams,
    @JsonBody(new DtoPipe(AnswerBody)) { confirmed, payload }: Readonly<AnswerBody>,
  ): Promise<readonly EventDto[]> {
    const answer = { confirmed, ...(payload !== undefined && { payload }) };
    const { events } = await this.registry.answerApproval({ ...key, approvalId, answer }).result;
    return events;
  }
}
