import { Delete, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { InvalidInputError, SessionNotFoundError } from '../domain/errors.js';
import { assertId } from '../domain/ids.js';
import { type Session, viewOf } from '../domain/session.js';
import type { SessionFilter } from '../domain/submitted-metadata.js';
import { AccessChecks } from '../transport/access-checks.js';
import { AccessFilter } from '../transport/access-filter.js';
import { RequireAccess } from '../transport/session-access.js';
import { CREATES, FORKS, REWINDS } from '../transport/request-writes.js';
import type { ListSessionsRequest } from '../operations/list-sessions.js';
import type { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { KeepsVersion } from './condition.guard.js';
import { LargeAnswer } from './answer.interceptor.js';
import { ApiResult, ApiIds, ApiProblems } from './api-responses.js';
import { DtoPipe } from './dto.pipe.js';
import { filterOf, GetSessionQuery, ListSessionsQuery, numberOf } from './dto/query.dto.js';
import {
  CreateSessionBody,
  CreateSessionWithIdBody,
  ForkBody,
  RewindBody,
  SessionDto,
  SessionPageDto,
} from './dto/session.dto.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { type AppParams, type SessionParams, type UserParams, JsonBody, SessionRoutes } from './session-routes.js';
import { WritesInTurn, turnOf } from './turn-headers.js';

const WHERE_TO = 'must hold either toSeq, the last event to keep, or invocationId, the invocation to take back';

const USER = 'users/:userId/sessions';
const SESSION = `${USER}/:sessionId`;

/** Sessions: create, get, list, delete, rewind, fork. */
@ApiTags('sessions')
@SessionRoutes('apps/:appName')
export class SessionsController {
  constructor(
    @Inject(SERVED_SESSIONS) private readonly sessions: SessionService,
    private readonly access: AccessChecks,
  ) {}

  @Post(USER)
  @RequireAccess('create', 'sessions', CREATES)
  @LargeAnswer()
  @ApiOperation({ operationId: 'createSession', summary: 'Creates a session' })
  @ApiIds('appName', 'userId')
  @ApiBody({ type: CreateSessionBody })
  @ApiResult(201, 'The new session.', { type: SessionDto, headers: ['ETag', 'Location'] })
  @ApiProblems(403, 409, 413, 415)
  async create(
    @Param() owner: UserParams,
    @JsonBody(new DtoPipe(CreateSessionBody)) body: Readonly<CreateSessionBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionDto> {
    const session = await this.#create(owner, body);
    return created(session, exchange.path, exchange);
  }

  @Get(USER)
  @RequireAccess('list', 'sessions')
  @LargeAnswer()
  @ApiOperation({ operationId: 'listSessions', summary: "Lists a user's sessions, without their events" })
  @ApiQuery({ type: ListSessionsQuery })
  @ApiIds('appName', 'userId')
  @ApiResult(200, 'A page of sessions.', { type: SessionPageDto, headers: ['Link'] })
  @ApiProblems(403)
  async list(
    @Param() owner: UserParams,
    @Query(new DtoPipe(ListSessionsQuery)) query: Readonly<ListSessionsQuery>,
    @AccessFilter() within: SessionFilter | undefined,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionPageDto> {
    return this.#list({ ...owner, within }, query, exchange);
  }

  @Get('sessions')
  @RequireAccess('list', 'sessions')
  @LargeAnswer()
  @ApiOperation({ operationId: 'listAppSessions', summary: 'Lists the sessions of all users of an app' })
  @ApiQuery({ type: ListSessionsQuery })
  @ApiIds('appName')
  @ApiResult(200, 'A page of sessions.', { type: SessionPageDto, headers: ['Link'] })
  @ApiProblems(403)
  async listOfApp(
    @Param() owner: AppParams,
    @Query(new DtoPipe(ListSessionsQuery)) query: Readonly<ListSessionsQuery>,
    @AccessFilter() within: SessionFilter | undefined,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionPageDto> {
    return this.#list({ ...owner, within }, query, exchange);
  }

  @Post(SESSION)
  @RequireAccess('create', 'sessions', CREATES)
  @LargeAnswer()
  @ApiOperation({ operationId: 'createSessionWithId', summary: 'Creates a session with this id' })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: CreateSessionWithIdBody })
  @ApiResult(201, 'The new session.', { type: SessionDto, headers: ['ETag', 'Location'] })
  @ApiProblems(403, 409, 413, 415)
  async createWithId(
    @Param() { sessionId, ...owner }: SessionParams,
    @JsonBody(new DtoPipe(CreateSessionWithIdBody)) body: Readonly<CreateSessionWithIdBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionDto> {
    // Otherwise a blank id would count as missing, and one would be generated.
    assertId(sessionId, 'sessionId');
    const session = await this.#create(owner, { ...body, sessionId });
    return created(session, parentOf(exchange.path), exchange);
  }

  @Get(SESSION)
  @RequireAccess('read', 'session')
  @LargeAnswer()
  @ApiOperation({ operationId: 'getSession', summary: 'Returns the session with its view of the log' })
  @ApiQuery({ type: GetSessionQuery })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(200, 'The session.', { type: SessionDto, headers: ['ETag'] })
  @ApiProblems(404)
  async get(
    @Param() key: SessionParams,
    @Query(new DtoPipe(GetSessionQuery)) query: Readonly<GetSessionQuery>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionDto> {
    const config = {
      numRecentEvents: numberOf(query.numRecentEvents),
      afterTimestamp: numberOf(query.afterTimestamp),
      afterSeq: numberOf(query.afterSeq),
    };
    const session = await this.sessions.getSession({ ...key, config });
    if (!session) throw new SessionNotFoundError(key.sessionId);
    exchange.tagVersion(session.version);
    return viewOf(session);
  }

  @Delete(SESSION)
  @HttpCode(204)
  @RequireAccess('delete', 'session')
  @ApiOperation({ operationId: 'deleteSession', summary: 'Deletes the session with its events; shared state stays' })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiResult(204, 'The session does not exist any more.')
  @ApiProblems()
  async delete(@Param() key: SessionParams): Promise<void> {
    await this.sessions.deleteSession(key);
  }

  @Post(`${SESSION}/rewind`)
  @HttpCode(200)
  @RequireAccess('write', 'session', REWINDS)
  @LargeAnswer()
  @ApiOperation({
    operationId: 'rewindSession',
    summary: 'Takes the session and its own state back to an earlier event',
    description: 'Appends one event. The log keeps everything, so another rewind can undo this one.',
  })
  @KeepsVersion()
  @WritesInTurn({ mayEnd: false })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: RewindBody })
  @ApiResult(200, 'The session as it is now.', { type: SessionDto, headers: ['ETag'] })
  @ApiProblems(403, 404, 413, 415)
  async rewind(
    @Param() key: SessionParams,
    @JsonBody(new DtoPipe(RewindBody)) body: Readonly<RewindBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionDto> {
    if ((body.toSeq === undefined) === (body.invocationId === undefined)) throw new InvalidInputError(WHERE_TO, 'body');
    const session = await this.sessions.rewindSession({
      ...key,
      ...body,
      expectedVersion: exchange.expectedVersion(),
      turn: turnOf(exchange).turn,
      onServerState: this.access.serverStateCheck(key, exchange.request, 'rewind'),
    });
    exchange.tagVersion(session.version);
    return viewOf(session);
  }

  @Post(`${SESSION}/fork`)
  @RequireAccess('write', 'session', FORKS)
  @LargeAnswer()
  @ApiOperation({
    operationId: 'forkSession',
    summary: 'Creates a session from this one, as it is or as it was after an event',
  })
  @ApiIds('appName', 'userId', 'sessionId')
  @ApiBody({ type: ForkBody })
  @ApiResult(201, 'The new session.', { type: SessionDto, headers: ['ETag', 'Location'] })
  @ApiProblems(403, 404, 409, 413, 415)
  async fork(
    @Param() key: SessionParams,
    @JsonBody(new DtoPipe(ForkBody)) body: Readonly<ForkBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionDto> {
    await this.access.checkFork(key, exchange.request);
    const session = await this.sessions.forkSession({
      ...key,
      ...body,
      onServerState: this.access.serverStateCheck(key, exchange.request, 'fork'),
    });
    return created(session, parentOf(parentOf(exchange.path)), exchange);
  }

  async #list(
    owner: AppParams & Partial<UserParams> & Pick<ListSessionsRequest, 'within'>,
    { limit, page, offset, includeState, status, tag, label, ...how }: ListSessionsQuery,
    exchange: CurrentExchange,
  ): Promise<SessionPageDto> {
    const paging = { limit: numberOf(limit), page: numberOf(page), offset: numberOf(offset) };
    const found = await this.sessions.listSessions({
      ...owner,
      ...how,
      ...paging,
      filter: filterOf({ status, tag, label }),
      includeState: includeState !== 'false',
    });
    exchange.linkPages(found);
    const { nextCursor, ...rest } = found;
    // A cursor cannot be combined with `page` or `offset`.
    const isWalked = nextCursor !== undefined && found.totalItems === undefined;
    return { ...rest, ...(isWalked && { nextCursor }), sessions: found.sessions.map(viewOf) };
  }

  async #create(owner: UserParams, { sessionId, state, metadata, turnsOnly }: CreateSessionBody): Promise<Session> {
    const initial = state as Record<string, unknown> | undefined;
    return this.sessions.createSession({ ...owner, sessionId, state: initial, metadata, turnsOnly });
  }
}

/** Sets `Location` and `ETag` of a new session. */
function created(session: Session, sessionsPath: string, exchange: CurrentExchange): SessionDto {
  exchange.setHeader('Location', `${sessionsPath}/${encodeURIComponent(session.id)}`);
  exchange.tagVersion(session.version);
  return viewOf(session);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
