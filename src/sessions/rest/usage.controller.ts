import { Get, Inject, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { UsageOwner } from '../domain/usage-periods.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { RequireAccess } from '../transport/session-access.js';
import { ApiIds, ApiProblems, ApiResult } from './api-responses.js';
import { DtoPipe } from './dto.pipe.js';
import { UsageQueryDto, UsageReportDto } from './dto/usage.dto.js';
import { type AppParams, type SessionParams, type UserParams, SessionRoutes } from './session-routes.js';

const REPORT = { type: UsageReportDto };

/** Tokens and cost. Whoever may list the sessions of a user or an app may read its usage. */
@ApiTags('usage')
@SessionRoutes('apps/:appName')
export class UsageController {
  constructor(@Inject(SERVED_SESSIONS) private readonly sessions: SessionService) {}

  @Get('users/:userId/sessions/:sessionId/usage')
  @RequireAccess('read', 'session')
  @ApiOperation({ operationId: 'getSessionUsage', summary: 'Returns the tokens that a session used, by model' })
  @ApiQuery({ type: UsageQueryDto })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(200, 'The tokens, and what they cost.', REPORT)
  @ApiProblems(404)
  async ofSession(
    @Param() key: SessionParams,
    @Query(new DtoPipe(UsageQueryDto)) query: Readonly<UsageQueryDto>,
  ): Promise<UsageReportDto> {
    return this.#report(key, query);
  }

  @Get('users/:userId/usage')
  @RequireAccess('list', 'sessions')
  @ApiOperation({ operationId: 'getUserUsage', summary: 'Returns the tokens that a user used in all sessions' })
  @ApiQuery({ type: UsageQueryDto })
  @ApiIds('appName', 'userId')
  @ApiResult(200, 'The tokens, and what they cost.', REPORT)
  @ApiProblems(403)
  async ofUser(
    @Param() owner: UserParams,
    @Query(new DtoPipe(UsageQueryDto)) query: Readonly<UsageQueryDto>,
  ): Promise<UsageReportDto> {
    return this.#report(owner, query);
  }

  @Get('usage')
  @RequireAccess('list', 'sessions')
  @ApiOperation({ operationId: 'getAppUsage', summary: 'Returns the tokens that all users of an app used' })
  @ApiQuery({ type: UsageQueryDto })
  @ApiIds('appName')
  @ApiResult(200, 'The tokens, and what they cost.', REPORT)
  @ApiProblems(403)
  async ofApp(
    @Param() owner: AppParams,
    @Query(new DtoPipe(UsageQueryDto)) query: Readonly<UsageQueryDto>,
  ): Promise<UsageReportDto> {
    return this.#report(owner, query);
  }

  #report(owner: UsageOwner, { period }: Readonly<UsageQueryDto>): Promise<UsageReportDto> {
    return this.sessions.getUsage({ ...owner, ...(period !== undefined && { period }) });
  }
}
