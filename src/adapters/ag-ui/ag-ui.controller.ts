import { setTimeout as delay } from 'node:timers/promises';
import { type Event, EventType } from '@ag-ui/core';
import { HttpCode, Logger, Param, Post, Query, Res } from '@nestjs/common';
import { AgentRegistry } from '../../agents/agent-registry.js';
import type { AgentRun } from '../../agents/agent-run.js';
import type { RunResult } from '../../agents/run-request.js';
import { begunInOrder } from '../../agents/run-reading.js';
import { SessionNotFoundError } from '../../sessions/domain/errors.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import { type CurrentExchange, Exchange } from '../../sessions/rest/http-exchange.js';
import { sendEvents } from '../../sessions/rest/sent-events.js';
import { JsonBody, SessionRoutes, type UserParams } from '../../sessions/rest/session-routes.js';
import { describeWrite } from '../../sessions/domain/write-description.js';
import { SessionService } from '../../sessions/session.service.js';
import { AccessChecks } from '../../sessions/transport/access-checks.js';
import { type Problem, problemOf } from '../../sessions/transport/problems.js';
import { RequireAccess } from '../../sessions/transport/session-access.js';
import { begunRun } from './begun-run.js';
import { RUNS_AS_AG_UI, checkedInput, placeOf } from './run-input.js';
import { finished, outcomeOf, started } from './run-outcome.js';
import { type SentEvent, SessionStream, messagesSnapshot, stateOf } from './session-stream.js';
import { stateOf as readToken } from './stream-token.js';
import { invocationOf } from '../../agents/agent-environment.js';

/** How long a stream waits for a run that cannot begin, so that it is refused like a request that is wrong. */
const BEGIN_MS = 250;

/** Runs agents for clients of AG-UI, and shows them what happens in a thread. */
@SessionRoutes('apps/:appName/users/:userId/ag-ui')
export class AgUiController {
  readonly #logger = new Logger(AgUiController.name);

  constructor(
    private readonly registry: AgentRegistry,
    private readonly sessions: SessionService,
    private readonly access: AccessChecks,
  ) {}

  /** Runs the agent of the app with what is new in the input. It goes on if the client leaves. */
  @Post('run')
  @HttpCode(200)
  @RequireAccess('write', 'session', RUNS_AS_AG_UI, placeOf)
  async run(
    @Param() { appName, userId }: UserParams,
    @JsonBody() body: unknown,
    @Exchange() exchange: CurrentExchange,
    // Tells Nest not to send a response.
    @Res() _response: unknown,
  ): Promise<void> {
    const input = checkedInput(body);
    const { threadId, runId } = input;
    const key = { appName, userId, sessionId: threadId };
    const session = (await this.sessions.getSession(key)) ?? (await this.#create(key, exchange));
    const begun = begunRun(this.registry, key, session, input);
    const runs = begunInOrder(begun.starts);
    const over = resultsOf(runs);
    over.catch(() => undefined);
    await Promise.race([over, firstEventOf(runs), delay(BEGIN_MS)]);
    await this.#send(key, exchange, true, String(session.version), async function* (stream) {
      yield { event: started(threadId, runId) };
      yield { event: { type: EventType.STATE_SNAPSHOT, snapshot: stateOf(session) } };
      if (begun.isRepeated) yield { event: messagesSnapshot(session) };
      yield* stream.until(over, begun.invocationId, begun.messageIds);
      const result = await over.then(
        (value) => value,
        (error: unknown) => errorEvent(problemOf(error)),
      );
      yield* stream.end((current) =>
        'status' in result ? finished(threadId, runId, outcomeOf({ ...result, session: current })) : result,
      );
    });
  }

  /** The conversation and the state, then the run that goes on, and later runs. Continues after `Last-Event-ID`. */
  @Post('connect')
  @HttpCode(200)
  @RequireAccess('read', 'session', undefined, placeOf)
  async connect(
    @Param() { appName, userId }: UserParams,
    @JsonBody() body: unknown,
    @Query('live') live: string | undefined,
    @Exchange() exchange: CurrentExchange,
    // Tells Nest not to send a response.
    @Res() _response: unknown,
  ): Promise<void> {
    const { threadId, runId } = checkedInput(body);
    const key = { appName, userId, sessionId: threadId };
    const token = exchange.header('last-event-id')?.trim();
    const session = await this.sessions.getSession(key);
    if (!session) throw new SessionNotFoundError(threadId);
    const turn = await this.sessions.getTurn(key);
    const options = { untilIdle: live === 'false' };
    await this.#send(key, exchange, false, token || String(session.version), async function* (stream) {
      if (!token) yield* stream.snapshot(session, runId, turn && invocationOf(turn.holder));
      yield* stream.follow(options);
    });
  }

  async #create(key: SessionKey, { request }: CurrentExchange): ReturnType<SessionService['createSession']> {
    const { appName, userId } = key;
    const write = describeWrite({});
    await this.access.check({ action: 'create', target: 'sessions', appName, userId, request, write });
    return this.sessions.getOrCreateSession(key);
  }

  async #send(
    key: SessionKey,
    exchange: CurrentExchange,
    hasEnd: boolean,
    token: string,
    events: (stream: SessionStream) => AsyncGenerator<SentEvent>,
  ): Promise<void> {
    const from = readToken(token);
    const { request } = exchange;
    const access = this.access.followStream({ action: 'read', target: 'session', ...key, request });
    let stream: SessionStream | undefined;
    await sendEvents(exchange, access, this.#logger, {
      open: (response, signal) => {
        stream = new SessionStream({ sessions: this.sessions, key, signal, gate: access.gateTo(response) }, from);
        return events(stream);
      },
      textOf: ({ event, id }) => `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`,
      textOfProblem: (problem) => `data: ${JSON.stringify(errorEvent(problem))}\n\n`,
      hasEnd,
    });
    await stream?.close();
  }
}

function errorEvent({ detail, code }: Problem): Event {
  return { type: EventType.RUN_ERROR, message: detail, ...(code !== undefined && { code }) };
}

/** The result of the last run. */
async function resultsOf(runs: readonly Promise<AgentRun>[]): Promise<RunResult> {
  let last: RunResult | undefined;
  for (const run of runs) last = await (await run).result;
  if (!last) throw new Error('There is a run');
  return last;
}

async function firstEventOf([run]: readonly Promise<AgentRun>[]): Promise<void> {
  const events = (await run)?.read();
  await events?.next();
  await events?.return();
}
