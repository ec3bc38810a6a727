import { Controller, Get, Param, Patch, UseFilters, UseGuards } from '@nestjs/common';
import { SessionNotFoundError } from '../domain/errors.js';
import type { LoggedEvent } from '../domain/event.js';
import { checkSharedWrites } from '../faces/access-checks.js';
import { SessionAccess } from '../faces/session-access.js';
import { SessionService } from '../session.service.js';
import { AccessGuard, Needs } from './access.guard.js';
import { ConditionGuard, KeepsVersion } from './condition.guard.js';
import { EnvelopePipe } from './envelope.pipe.js';
import { ChangeStateBody } from './envelopes.js';
import { type CurrentExchange, Exchange } from './http-exchange.js';
import { JsonBody } from './json-body.js';
import { ProblemFilter } from './problem.filter.js';
import type { AppParams, SessionParams, UserParams } from './route-params.js';

type State = Record<string, unknown>;

/** State: of a session with all that it sees, of a user, of an app. */
@Controller('apps/:appName')
@UseGuards(AccessGuard, ConditionGuard)
@UseFilters(ProblemFilter)
export class StateController {
  constructor(
    private readonly sessions: SessionService,
    private readonly access: SessionAccess,
  ) {}

  @Get('users/:userId/sessions/:sessionId/state')
  @Needs('read', 'session')
  async ofSession(@Param() key: SessionParams, @Exchange() exchange: CurrentExchange): Promise<State> {
    const session = await this.sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
    if (!session) throw new SessionNotFoundError(key.sessionId);
    exchange.tagVersion(session.version);
    return session.state.toRecord();
  }

  /** Changes state by an event of the author `system`, and answers with it. */
  @Patch('users/:userId/sessions/:sessionId/state')
  @KeepsVersion()
  @Needs('write', 'session')
  async changeOfSession(
    @Param() { sessionId: id, ...owner }: SessionParams,
    @JsonBody(new EnvelopePipe(ChangeStateBody)) body: Readonly<ChangeStateBody>,
    @Exchange() exchange: CurrentExchange,
  ): Promise<LoggedEvent> {
    const changes = changesOf(body);
    await checkSharedWrites(this.access, { ...owner, ...changes, request: exchange.request });
    const stored = await this.sessions.appendEvent({
      session: { id, ...owner },
      event: { author: 'system', actions: changes },
      expectedVersion: exchange.expectedVersion(),
    });
    exchange.tagVersion(stored.seq);
    return stored;
  }

  @Get('users/:userId/state')
  @Needs('read', 'userState')
  async ofUser(@Param() owner: UserParams): Promise<State> {
    return this.sessions.getUserState(owner);
  }

  @Patch('users/:userId/state')
  @Needs('write', 'userState')
  async changeOfUser(
    @Param() owner: UserParams,
    @JsonBody(new EnvelopePipe(ChangeStateBody)) body: Readonly<ChangeStateBody>,
  ): Promise<State> {
    return this.sessions.updateUserState({ ...owner, ...changesOf(body) });
  }

  @Get('state')
  @Needs('read', 'appState')
  async ofApp(@Param() owner: AppParams): Promise<State> {
    return this.sessions.getAppState(owner);
  }

  @Patch('state')
  @Needs('write', 'appState')
  async changeOfApp(
    @Param() owner: AppParams,
    @JsonBody(new EnvelopePipe(ChangeStateBody)) body: Readonly<ChangeStateBody>,
  ): Promise<State> {
    return this.sessions.updateAppState({ ...owner, ...changesOf(body) });
  }
}

/** As they came: the rules of sessions check them. */
function changesOf({ stateDelta, stateRemovals }: ChangeStateBody): { stateDelta?: State; stateRemovals?: string[] } {
  return {
    ...(stateDelta !== undefined && { stateDelta: stateDelta as State }),
    ...(stateRemovals !== undefined && { stateRemovals: stateRemovals as string[] }),
  };
}
