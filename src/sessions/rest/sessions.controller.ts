import { Controller, Delete, Get, HttpCode, Param, Post, Query, UseFilters, UseGuards } from '@nestjs/common';
import { InvalidInputError, SessionNotFoundError } from '../domain/errors.js';
import { assertId } from '../domain/ids.js';
import type { Session } from '../domain/session.js';
import { checkAccess, checkSharedWrites } from '../faces/access-checks.js';
import { SessionAccess } from '../faces/session-access.js';
import { SessionService } from '../session.service.js';
import { AccessGuard, Needs } from './access.guard.js';
import { ConditionGuard, KeepsVersion } from './condition.guard.js';
import { EnvelopePipe } from './envelope.pipe.js';
import {
  CreateSessionBody,
  CreateSessionWithIdBody,
  ForkBody,
  GetSessionQuery,
  ListSessionsQuery,
  RewindBody,
  numberOf,
} from './envelopes.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { JsonBody } from './json-body.js';
import { ProblemFilter } from './problem.filter.js';
import type { SessionParams, UserParams } from './route-params.js';
import { type SessionView, viewOf } from '../faces/session-view.js';

const WHERE_TO = 'must hold either toSeq, the last event to keep, or invocationId, the invocation to take back';

interface SessionList {
  readonly sessions: SessionView[];
  readonly limit: number;
  readonly nextCursor?: string;
}

/** Sessions of a user: create, get, list, delete, rewind, fork. */
@Controller('apps/:appName/users/:userId/sessions')
@UseGuards(AccessGuard, ConditionGuard)
@UseFilters(ProblemFilter)
export class SessionsController {
  constructor(
    private readonly sessions: SessionService,
    private readonly access: SessionAccess,
  ) {}

  @Get()
  @Needs('list', 'sessions')
  async list(
    @Param() owner: UserParams,
    @Query(new EnvelopePipe(ListSessionsQuery)) query: Readonly<ListSessionsQuery>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionList> {
    const { limit, page, offset, ...how } = query;
    const paging = { limit: numberOf(limit), page: numberOf(page), offset: numberOf(offset) };
    const found = await this.sessions.listSessions({ ...owner, ...how, ...paging });
    exchange.linkPages(found);
    const { nextCursor, ...rest } = found;
    // A cursor does not go with the page or the offset that was asked for.
    const isWalked = nextCursor !== undefined && found.totalItems === undefined;
    return { ...rest, ...(isWalked && { nextCursor }), sessions: found.sessions.map(viewOf) };
  }

  @Post()
  @Needs('create', 'sessions')
  async create(
    @Param() owner: UserParams,
    @JsonBody(new EnvelopePipe(CreateSessionBody)) body: Readonly<CreateSessionBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionView> {
    const session = await this.#create(owner, body, exchange);
    return created(session, exchange.path, exchange);
  }

  @Post(':sessionId')
  @Needs('create', 'sessions')
  async createWithId(
    @Param() { sessionId, ...owner }: SessionParams,
    @JsonBody(new EnvelopePipe(CreateSessionWithIdBody)) body: Readonly<CreateSessionWithIdBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionView> {
    // A blank one would be taken for none at all, and the session made under another.
    assertId(sessionId, 'sessionId');
    const session = await this.#create(owner, { ...body, sessionId }, exchange);
    return created(session, parentOf(exchange.path), exchange);
  }

  @Get(':sessionId')
  @Needs('read', 'session')
  async get(
    @Param() key: SessionParams,
    @Query(new EnvelopePipe(GetSessionQuery)) query: Readonly<GetSessionQuery>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionView> {
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

  @Delete(':sessionId')
  @HttpCode(204)
  @Needs('delete', 'session')
  async delete(@Param() key: SessionParams): Promise<void> {
    await this.sessions.deleteSession(key);
  }

  @Post(':sessionId/rewind')
  @HttpCode(200)
  @KeepsVersion()
  @Needs('write', 'session')
  async rewind(
    @Param() key: SessionParams,
    @JsonBody(new EnvelopePipe(RewindBody)) body: Readonly<RewindBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionView> {
    if ((body.toSeq === undefined) === (body.invocationId === undefined)) throw new InvalidInputError(WHERE_TO, 'body');
    const session = await this.sessions.rewindSession({
      ...key,
      ...body,
      expectedVersion: exchange.expectedVersion(),
    });
    exchange.tagVersion(session.version);
    return viewOf(session);
  }

  @Post(':sessionId/fork')
  @Needs('write', 'session')
  async fork(
    @Param() key: SessionParams,
    @JsonBody(new EnvelopePipe(ForkBody)) body: Readonly<ForkBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<SessionView> {
    const { appName, userId } = key;
    await checkAccess(this.access, {
      action: 'create',
      target: 'sessions',
      appName,
      userId,
      request: exchange.request,
    });
    const session = await this.sessions.forkSession({ ...key, ...body });
    return created(session, parentOf(parentOf(exchange.path)), exchange);
  }

  async #create(
    owner: UserParams,
    { sessionId, state }: CreateSessionBody,
    { request }: CurrentExchange,
  ): Promise<Session> {
    await checkSharedWrites(this.access, { ...owner, stateDelta: state, request });
    const initial = state as Record<string, unknown> | undefined;
    return this.sessions.createSession({ ...owner, sessionId, state: initial });
  }
}

/** Says where a new session is, below the path of its user's sessions. */
function created(session: Session, sessionsPath: string, exchange: CurrentExchange): SessionView {
  exchange.setHeader('Location', `${sessionsPath}/${encodeURIComponent(session.id)}`);
  exchange.tagVersion(session.version);
  return viewOf(session);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
