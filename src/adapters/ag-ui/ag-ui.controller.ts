import { setTimeout as delay } from 'node:timers/promises';
import { type Event, EventType } from '@ag-ui/core';
import { HttpCode, Inject, Logger, Param, Post, Query, Res } from '@nestjs/common';
import {
  AccessChecks,
  describeWrite,
  type HttpExchange,
  reportProblem,
  SERVED_SESSIONS,
  withOutcome,
} from '../../adapter.js';
import { AgentRegistry, type AgentRun, beginInOrder, runningInvocation, type RunResult } from '../../agents/index.js';
import {
  Exchange,
  JsonBody,
  OpensStream,
  type Problem,
  RequireAccess,
  sendEvents,
  SessionRoutes,
} from '../../sessions/rest/index.js';
import {
  type Session,
  type SessionKey,
  SessionNotFoundError,
  type SessionService,
  type UserKey,
  type WatchSessionRequest,
} from '../../index.js';
import { ApiAgUiConnect, ApiAgUiRun } from './ag-ui-description.js';
import { type BegunRun, begunRun } from './begun-run.js';
import { type CheckedInput, RUNS_AS_AG_UI, checkedInput, readThreadSession } from './run-input.js';
import { finished, toRunOutcome, started } from './run-outcome.js';
import { type SentEvent, SessionStream, emptySnapshot, messagesSnapshot, readVisibleState } from './session-stream.js';
import { parseStreamToken as readToken } from './stream-token.js';

/** How long a stream waits for a run that cannot begin, so that it is refused like a request that is wrong. */
const BEGIN_MS = 250;

/** For readers who have the conversation already. */
const NO_VIEW = { config: { numRecentEvents: 0 } };

interface Beginning {
  readonly begun: BegunRun;
  readonly version: string;
  readonly snapshots: Event[];
}

/** Runs agents for clients of AG-UI, and shows them what happens in a thread. */
@SessionRoutes('apps/:appName/users/:userId/ag-ui')
export class AgUiController {
  readonly #logger = new Logger(AgUiController.name);

  constructor(
    readonly registry: AgentRegistry,
    @Inject(SERVED_SESSIONS) readonly sessions: SessionService,
    private readonly access: AccessChecks,
  ) {}

  /** Runs the agent of the app with what is new in the input. It goes on if the client leaves. */
  @Post('run')
  @HttpCode(200)
  @RequireAccess('write', 'session', RUNS_AS_AG_UI, readThreadSession)
  @OpensStream()
  @ApiAgUiRun()
  async run(
    @Param() { appName, userId }: UserKey,
    @JsonBody() body: unknown,
    @Exchange() exchange: HttpExchange,
    // Tells Nest not to send a response.
    @Res() _response: unknown,
  ): Promise<void> {
    const input = checkedInput(body);
    const { threadId, runId } = input;
    const key = { appName, userId, sessionId: threadId };
    const share = await this.access.reserve(exchange.request, exchange.nodeResponse);
    const { begun, version, snapshots } = await this.#begin(key, input, exchange);
    share.resize(Buffer.byteLength(JSON.stringify(snapshots)));
    const runs = beginInOrder(begun.starts);
    const over = awaitLastResult(runs);
    over.catch(() => undefined);
    await Promise.race([over, firstEventOf(runs), delay(BEGIN_MS)]);
    const { sessions } = this;
    const failed = (error: unknown): Event => errorEvent(reportProblem(this.#logger, error, key));
    await this.#send(key, exchange, true, version, async function* (stream, signal) {
      yield { event: started(threadId, runId) };
      // Taken out, so that nothing keeps them while the run goes on.
      for (let event = snapshots.shift(); event; event = snapshots.shift()) yield { event };
      share.release();
      yield* stream.until(over, begun.invocationId, begun.messageIds);
      // The reader has left, or may not read any more. The run goes on.
      if (signal.aborted) return;
      const result = await over.then((value) => value, failed);
      yield* stream.end((current) =>
        'status' in result
          ? finished(threadId, runId, toRunOutcome(sessions, { ...result, session: current }))
          : result,
      );
    });
  }

  /**
   * The conversation and the state, then the run that goes on, and later runs. Continues after `Last-Event-ID`. Of a thread that
   * nobody has begun, nothing: clients connect before the first message.
   */
  @Post('connect')
  @HttpCode(200)
  @RequireAccess('read', 'session', undefined, readThreadSession)
  @OpensStream()
  @ApiAgUiConnect()
  async connect(
    @Param() { appName, userId }: UserKey,
    @JsonBody() body: unknown,
    @Query('live') live: string | undefined,
    @Exchange() exchange: HttpExchange,
    // Tells Nest not to send a response.
    @Res() _response: unknown,
  ): Promise<void> {
    const { threadId, runId } = checkedInput(body);
    const key = { appName, userId, sessionId: threadId };
    const token = exchange.header('last-event-id')?.trim();
    const share = await this.access.reserve(exchange.request, exchange.nodeResponse);
    const shown: { session?: Session } = { session: await this.sessions.getSession({ ...key, ...(token && NO_VIEW) }) };
    if (!shown.session) {
      if (token) throw new SessionNotFoundError(threadId);
      share.release();
      return this.#sendEvents(key, exchange, true, () => emptySnapshot(threadId, runId));
    }
    share.resize(Buffer.byteLength(JSON.stringify(shown.session)));
    const turn = await this.sessions.getTurn(key);
    const options = { untilIdle: live === 'false' };
    await this.#send(key, exchange, false, token || String(shown.session.version), async function* (stream) {
      if (!token && shown.session) yield* stream.snapshot(shown.session, runId, runningInvocation(turn));
      // Nothing keeps it while the stream goes on.
      delete shown.session;
      share.release();
      yield* stream.follow(options);
    });
  }

  /** Begins what the input asks for. The events show the session to the one who does. */
  async #begin(key: SessionKey, input: CheckedInput, exchange: HttpExchange): Promise<Beginning> {
    const session = (await this.sessions.getSession(key)) ?? (await this.#create(key, exchange));
    const begun = begunRun(this, key, session, input);
    const snapshots: Event[] = [{ type: EventType.STATE_SNAPSHOT, snapshot: readVisibleState(session) }];
    if (begun.isRepeated) snapshots.push(messagesSnapshot(session));
    return { begun, version: String(session.version), snapshots };
  }

  async #create(key: SessionKey, { request }: HttpExchange): ReturnType<SessionService['createSession']> {
    const { appName, userId } = key;
    const write = describeWrite({});
    return withOutcome(request, async () => {
      await this.access.check({ action: 'create', target: 'sessions', appName, userId, request, write });
      return this.sessions.getOrCreateSession(key);
    });
  }

  async #send(
    key: SessionKey,
    exchange: HttpExchange,
    hasEnd: boolean,
    token: string,
    events: (stream: SessionStream, signal: AbortSignal) => AsyncGenerator<SentEvent>,
  ): Promise<void> {
    const from = readToken(token);
    let stream: SessionStream | undefined;
    await this.#sendEvents(key, exchange, hasEnd, (signal, gate) => {
      const viewBytes = this.access.mostAnswerBytes;
      stream = new SessionStream({ sessions: this.sessions, key, signal, gate, viewBytes }, from);
      return events(stream, signal);
    });
    await stream?.close();
  }

  async #sendEvents(
    key: SessionKey,
    exchange: HttpExchange,
    hasEnd: boolean,
    open: (signal: AbortSignal, gate: WatchSessionRequest['gate']) => AsyncGenerator<SentEvent>,
  ): Promise<void> {
    const { request } = exchange;
    const access = this.access.followStream({ action: 'read', target: 'session', ...key, request });
    await sendEvents(exchange, access, this.#logger, {
      open: (response, signal) => open(signal, access.gateTo(response)),
      textOf: ({ event, id }) => `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`,
      textOfProblem: (problem) => `data: ${JSON.stringify(errorEvent(problem))}\n\n`,
      hasEnd,
    });
  }
}

function errorEvent({ detail, code }: Problem): Event {
  return { type: EventType.RUN_ERROR, message: detail, ...(code !== undefined && { code }) };
}

/** The result of the last run. */
async function awaitLastResult(runs: readonly Promise<AgentRun>[]): Promise<RunResult> {
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
