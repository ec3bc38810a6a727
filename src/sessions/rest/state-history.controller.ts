import { Get, Inject, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { RequireAccess } from '../transport/session-access.js';
import { LargeAnswer } from './answer.interceptor.js';
import { ApiIds, ApiProblems, ApiResult } from './api-responses.js';
import { DtoPipe } from './dto.pipe.js';
import { numberOf } from './dto/query.dto.js';
import { StateAtDto, StateAtQuery, StateChangePageDto, StateChangesQuery } from './dto/state-history.dto.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { type SessionParams, SessionRoutes } from './session-routes.js';

/** The state of a session at any moment, and what changed it. */
@ApiTags('state')
@SessionRoutes('apps/:appName/users/:userId/sessions/:sessionId/state')
export class StateHistoryController {
  constructor(@Inject(SERVED_SESSIONS) private readonly sessions: SessionService) {}

  @Get('at')
  @RequireAccess('read', 'session')
  @LargeAnswer()
  @ApiOperation({
    operationId: 'getSessionStateAt',
    summary: "Returns the session's own state as it was after an event",
  })
  @ApiQuery({ type: StateAtQuery })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(200, 'The state at that moment.', { type: StateAtDto })
  @ApiProblems(404)
  async at(
    @Param() key: SessionParams,
    @Query(new DtoPipe(StateAtQuery)) query: Readonly<StateAtQuery>,
  ): Promise<StateAtDto> {
    return this.sessions.stateAt({ ...key, seq: numberOf(query.seq) });
  }

  @Get('changes')
  @RequireAccess('read', 'session')
  @LargeAnswer()
  @ApiOperation({
    operationId: 'listStateChanges',
    summary: 'Lists which event changed which state key from what to what',
  })
  @ApiQuery({ type: StateChangesQuery })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(200, 'A page of changes.', { type: StateChangePageDto, headers: ['Link'] })
  @ApiProblems(404)
  async changes(
    @Param() session: SessionParams,
    @Query(new DtoPipe(StateChangesQuery)) query: Readonly<StateChangesQuery>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<StateChangePageDto> {
    const { limit, afterSeq, ...how } = query;
    const numbers = { limit: numberOf(limit), afterSeq: numberOf(afterSeq) };
    const page = await this.sessions.stateChanges({ ...session, ...how, ...numbers });
    exchange.linkPages(page);
    return page;
  }
}
