import {
  Controller,
  Delete,
  type ExecutionContext,
  Get,
  HttpCode,
  Inject,
  Injectable,
  Param,
  Patch,
  Post,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Allow, IsDefined, IsObject } from 'class-validator';
import { SessionNotFoundError } from '../../sessions/domain/errors/errors.js';
import { type SessionView, referenceTo, toSessionView } from '../../sessions/domain/session/session.js';
import type { UncheckedWrite } from '../../sessions/domain/write/write-description.js';
import { AccessGuard } from '../../sessions/rest/access.guard.js';
import { LargeAnswer } from '../../sessions/rest/answer.interceptor.js';
import { DtoPipe } from '../../sessions/rest/dto.pipe.js';
import { HttpExchange } from '../../sessions/rest/http-exchange.js';
import { JsonRequestGuard } from '../../sessions/rest/json-request.guard.js';
import { JsonBody, type SessionParams, type UserParams } from '../../sessions/rest/session-routes.js';
import type { SessionService } from '../../sessions/session.service.js';
import { SERVED_SESSIONS } from '../../sessions/sessions.tokens.js';
import type { SessionFilter } from '../../sessions/domain/metadata/session-filter.js';
import { AccessFilter } from '../../sessions/transport/access-filter.js';
import { CHANGES_STATE, CREATES } from '../../sessions/transport/request-writes.js';
import { RequireAccess } from '../../sessions/transport/session-access.js';
import { AdkNamesPipe, AdkProblemFilter, DELETED } from './adk-conventions.js';
import { adkBody } from './adk-requests.js';
import { ForeignSiteGuard } from './foreign-site.guard.js';

/** ADK's web UI shows all of them. */
const MOST_LISTED = 1_000;

type Input = Readonly<Record<string, unknown>>;

const CREATES_AS_ADK = (input: Input): UncheckedWrite => CREATES(adkBody(input));
const CHANGES_AS_ADK = (input: Input): UncheckedWrite => CHANGES_STATE(adkBody(input));

class AdkNewSession {
  @Allow()
  state?: Record<string, unknown>;

  @Allow()
  sessionId?: string;
}

class AdkStateChange {
  @IsDefined()
  @IsObject()
  stateDelta!: Record<string, unknown>;
}

/** ADK's web UI creates a session without a body, so without a content type. */
@Injectable()
class AdkRequestGuard extends JsonRequestGuard {
  override canActivate(context: ExecutionContext): boolean {
    const exchange = HttpExchange.of(context);
    const hasBody = exchange.header('content-type') !== undefined || Number(exchange.header('content-length') ?? 0) > 0;
    return (exchange.request.method === 'POST' && !hasBody) || super.canActivate(context);
  }
}

/** Sessions as ADK's API server has them: a list is an array, and every answer is JSON. */
@ApiExcludeController()
@Controller('apps/:appName/users/:userId/sessions')
@UseGuards(ForeignSiteGuard, AdkRequestGuard, AccessGuard)
@UseFilters(AdkProblemFilter)
export class AdkSessionsController {
  constructor(@Inject(SERVED_SESSIONS) private readonly sessions: SessionService) {}

  @Get()
  @RequireAccess('list', 'sessions')
  @LargeAnswer()
  async list(@Param() owner: UserParams, @AccessFilter() within: SessionFilter | undefined): Promise<SessionView[]> {
    const { sessions } = await this.sessions.listSessions({ ...owner, limit: MOST_LISTED, within });
    return sessions.map(toSessionView);
  }

  @Post()
  @HttpCode(200)
  @RequireAccess('create', 'sessions', CREATES_AS_ADK)
  @LargeAnswer()
  async create(
    @Param() owner: UserParams,
    @JsonBody(new AdkNamesPipe(), new DtoPipe(AdkNewSession)) body: Readonly<AdkNewSession>,
  ): Promise<SessionView> {
    return toSessionView(await this.sessions.createSession({ ...body, ...owner }));
  }

  @Post(':sessionId')
  @HttpCode(200)
  @RequireAccess('create', 'sessions', CREATES_AS_ADK)
  @LargeAnswer()
  async createWithId(
    @Param() key: SessionParams,
    @JsonBody(new AdkNamesPipe(), new DtoPipe(AdkNewSession)) body: Readonly<AdkNewSession>,
  ): Promise<SessionView> {
    return toSessionView(await this.sessions.createSession({ ...body, ...key }));
  }

  @Get(':sessionId')
  @RequireAccess('read', 'session')
  @LargeAnswer()
  async get(@Param() key: SessionParams): Promise<SessionView> {
    return this.#found(key);
  }

  /** Changes state by an event of the user, as ADK does. */
  @Patch(':sessionId')
  @RequireAccess('write', 'session', CHANGES_AS_ADK)
  @LargeAnswer()
  async change(
    @Param() key: SessionParams,
    @JsonBody(new AdkNamesPipe(), new DtoPipe(AdkStateChange)) { stateDelta }: Readonly<AdkStateChange>,
  ): Promise<SessionView> {
    await this.sessions.appendEvent({ session: referenceTo(key), event: { author: 'user', actions: { stateDelta } } });
    return this.#found(key);
  }

  @Delete(':sessionId')
  @RequireAccess('delete', 'session')
  async delete(@Param() key: SessionParams): Promise<object> {
    await this.sessions.deleteSession(key);
    return DELETED;
  }

  async #found(key: SessionParams): Promise<SessionView> {
    const session = await this.sessions.getSession(key);
    if (!session) throw new SessionNotFoundError(key.sessionId);
    return toSessionView(session);
  }
}
