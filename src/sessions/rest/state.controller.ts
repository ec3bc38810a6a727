import { Get, Inject, Param, Patch } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import { SessionNotFoundError } from '../domain/errors.js';
import type { LoggedEvent } from '../domain/event.js';
import { referenceTo } from '../domain/session.js';
import { RequireAccess } from '../transport/session-access.js';
import { CHANGES_APP_STATE, CHANGES_STATE, CHANGES_USER_STATE } from '../transport/request-writes.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { KeepsVersion } from './condition.guard.js';
import { AnswersItsBody, LargeAnswer } from './answer.interceptor.js';
import { ApiResult, ApiIds, ApiProblems } from './api-responses.js';
import { DtoPipe } from './dto.pipe.js';
import { EventDto } from './dto/event.dto.js';
import { ChangeStateBody, SHARED_STATE_EXAMPLE, STATE, STATE_EXAMPLE } from './dto/state.dto.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { type AppParams, type SessionParams, type UserParams, JsonBody, SessionRoutes } from './session-routes.js';
import { WritesInTurn, turnOf } from './turn-headers.js';

type State = Record<string, unknown>;

const SHARED_STATE = { schema: STATE, example: SHARED_STATE_EXAMPLE };

/** The state of a session with all scopes, of a user, and of an app. */
@ApiTags('state')
@SessionRoutes('apps/:appName')
export class StateController {
  constructor(@Inject(SERVED_SESSIONS) private readonly sessions: SessionService) {}

  @Get('users/:userId/sessions/:sessionId/state')
  @RequireAccess('read', 'session')
  @LargeAnswer()
  @ApiOperation({
    operationId: 'getSessionState',
    summary: 'Returns all state that the session sees, with the prefixes of its scopes',
  })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(200, 'The state.', { schema: STATE, example: STATE_EXAMPLE, headers: ['ETag'] })
  @ApiProblems(404)
  async ofSession(@Param() key: SessionParams, @Exchange() exchange: CurrentExchange): Promise<State> {
    const session = await this.sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
    if (!session) throw new SessionNotFoundError(key.sessionId);
    exchange.tagVersion(session.version);
    return session.state.toJSON();
  }

  /** Changes state with one event by the author `system`, and returns the event. */
  @Patch('users/:userId/sessions/:sessionId/state')
  @RequireAccess('write', 'session', CHANGES_STATE)
  @AnswersItsBody()
  @ApiOperation({ operationId: 'updateSessionState', summary: 'Changes state by one event of the author `system`' })
  @KeepsVersion()
  @WritesInTurn()
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: ChangeStateBody })
  @ApiResult(200, 'The event.', { type: EventDto, headers: ['ETag'] })
  @ApiProblems(403, 404, 413, 415)
  async changeOfSession(
    @Param() key: SessionParams,
    @JsonBody(new DtoPipe(ChangeStateBody)) body: Readonly<ChangeStateBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<LoggedEvent> {
    const changes = changesOf(body);
    const stored = await this.sessions.appendEvent({
      session: referenceTo(key),
      event: { author: 'system', actions: changes },
      expectedVersion: exchange.expectedVersion(),
      ...turnOf(exchange),
    });
    exchange.tagVersion(stored.seq);
    return stored;
  }

  @Get('users/:userId/state')
  @RequireAccess('read', 'userState')
  @LargeAnswer()
  @ApiOperation({
    operationId: 'getUserState',
    summary: 'Returns the state that all sessions of a user share; keys without `user:`',
  })
  @ApiIds('appName', 'userId')
  @ApiResult(200, 'The state.', SHARED_STATE)
  @ApiProblems(403)
  async ofUser(@Param() owner: UserParams): Promise<State> {
    return this.sessions.getUserState(owner);
  }

  @Patch('users/:userId/state')
  @RequireAccess('write', 'userState', CHANGES_USER_STATE)
  @LargeAnswer()
  @ApiOperation({
    operationId: 'updateUserState',
    summary: 'Changes the state that all sessions of a user share; keys with or without `user:`',
  })
  @ApiIds('appName', 'userId')
  @ApiBody({ type: ChangeStateBody })
  @ApiResult(200, 'The state as it is now.', SHARED_STATE)
  @ApiProblems(403, 413, 415)
  async changeOfUser(
    @Param() owner: UserParams,
    @JsonBody(new DtoPipe(ChangeStateBody)) body: Readonly<ChangeStateBody>,
  ): Promise<State> {
    return this.sessions.updateUserState({ ...owner, ...changesOf(body) });
  }

  @Get('state')
  @RequireAccess('read', 'appState')
  @LargeAnswer()
  @ApiOperation({
    operationId: 'getAppState',
    summary: 'Returns the state that all sessions of an app share; keys without `app:`',
  })
  @ApiIds('appName')
  @ApiResult(200, 'The state.', SHARED_STATE)
  @ApiProblems(403)
  async ofApp(@Param() owner: AppParams): Promise<State> {
    return this.sessions.getAppState(owner);
  }

  @Patch('state')
  @RequireAccess('write', 'appState', CHANGES_APP_STATE)
  @LargeAnswer()
  @ApiOperation({
    operationId: 'updateAppState',
    summary: 'Changes the state that all sessions of an app share; keys with or without `app:`',
  })
  @ApiIds('appName')
  @ApiBody({ type: ChangeStateBody })
  @ApiResult(200, 'The state as it is now.', SHARED_STATE)
  @ApiProblems(403, 413, 415)
  async changeOfApp(
    @Param() owner: AppParams,
    @JsonBody(new DtoPipe(ChangeStateBody)) body: Readonly<ChangeStateBody>,
  ): Promise<State> {
    return this.sessions.updateAppState({ ...owner, ...changesOf(body) });
  }
}

/** Unchecked: the domain rules validate them. */
function changesOf({ stateDelta, stateRemovals }: ChangeStateBody): { stateDelta?: State; stateRemovals?: string[] } {
  return {
    ...(stateDelta !== undefined && { stateDelta: stateDelta as State }),
    ...(stateRemovals !== undefined && { stateRemovals: stateRemovals as string[] }),
  };
}
