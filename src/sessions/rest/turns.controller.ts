import { Delete, Get, HttpCode, Inject, Param, Patch, Post } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Turn, TurnHolder } from '../operations/turns.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { RequireAccess } from '../transport/session-access.js';
import { TAKES_TURN } from '../transport/request-writes.js';
import { ApiIds, ApiProblem, ApiProblems, ApiResult } from './api-responses.js';
import { DtoPipe } from './dto.pipe.js';
import { BeginTurnBody, RenewTurnBody, TurnDto, TurnHolderDto } from './dto/turn.dto.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { type SessionParams, JsonBody, SessionRoutes } from './session-routes.js';
import { ApiTurnToken, tokenOf } from './turn-headers.js';

/** The turn of a session. Its token travels in bodies and headers only. */
@ApiTags('turns')
@SessionRoutes('apps/:appName/users/:userId/sessions/:sessionId/turn')
export class TurnsController {
  constructor(@Inject(SERVED_SESSIONS) private readonly sessions: SessionService) {}

  @Get()
  @RequireAccess('read', 'session')
  @ApiOperation({ operationId: 'getTurn', summary: 'Returns who holds the turn of the session' })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(200, 'The holder.', { type: TurnHolderDto })
  @ApiResult(204, 'No turn is held.')
  @ApiProblems(404)
  async get(@Param() key: SessionParams, @Exchange() exchange: CurrentExchange): Promise<TurnHolder | undefined> {
    const holder = await this.sessions.getTurn(key);
    if (!holder) exchange.setStatus(204);
    return holder;
  }

  @Post()
  @RequireAccess('write', 'session', TAKES_TURN)
  @ApiOperation({ operationId: 'beginTurn', summary: 'Begins a turn' })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: BeginTurnBody })
  @ApiResult(201, 'The turn.', { type: TurnDto })
  @ApiProblems(403, 404, 413, 415)
  @ApiProblem(409, { description: 'The turn is held by `holder` until `expiresAt`.', code: 'TURN_HELD' })
  async begin(
    @Param() key: SessionParams,
    @JsonBody(new DtoPipe(BeginTurnBody)) { holder, ttlMs, requestId }: Readonly<BeginTurnBody>,
  ): Promise<Turn> {
    // The default would name the server.
    return this.sessions.beginTurn({ ...key, holder, ttlMs, requestId });
  }

  @Patch()
  @RequireAccess('write', 'session', TAKES_TURN)
  @ApiOperation({ operationId: 'renewTurn', summary: 'Lets the turn last longer' })
  @ApiTurnToken()
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: RenewTurnBody })
  @ApiResult(200, 'The turn.', { type: TurnDto })
  @ApiProblems(403, 404, 413, 415)
  @ApiProblem(409, { description: 'The turn is over.', code: 'TURN_LOST' })
  async renew(
    @Param() key: SessionParams,
    @JsonBody(new DtoPipe(RenewTurnBody)) { ttlMs }: Readonly<RenewTurnBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<Turn> {
    return this.sessions.renewTurn({ ...key, token: tokenOf(exchange), ttlMs });
  }

  @Delete()
  @HttpCode(204)
  @RequireAccess('write', 'session', TAKES_TURN)
  @ApiOperation({ operationId: 'endTurn', summary: 'Ends the turn; no error if it is over' })
  @ApiTurnToken()
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(204, 'The turn is over.')
  @ApiProblems(403, 404)
  async end(@Param() key: SessionParams, @Exchange() exchange: CurrentExchange): Promise<void> {
    await this.sessions.endTurn({ ...key, token: tokenOf(exchange) });
  }
}
