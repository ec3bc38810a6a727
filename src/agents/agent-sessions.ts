import { type IdGenerator, randomId } from '../sessions/domain/clock.js';
import { InvalidInputError, SessionNotFoundError, TurnLostError } from '../sessions/domain/errors.js';
import { forwardedAbort } from '../sessions/domain/forwarded-abort.js';
import { type SessionKey, type UserKey, checkedSessionKey } from '../sessions/domain/ids.js';
import { requireRequest } from '../sessions/domain/input-checks.js';
import { type Session, referenceTo } from '../sessions/domain/session.js';
import type { SessionService } from '../sessions/session.service.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { type AgentEnvironment, invocationOf } from './agent-environment.js';
import { AgentRun } from './agent-run.js';
import { PENDING_FILTER, type PendingApproval, approvalMarksIn } from './approvals.js';
import { queuedIn, stopEvent, withdrawEvent } from './control-events.js';
import { checkedAnswer } from './invocation-approvals.js';
import { PartialFlusher } from './partial-flusher.js';
import { type PartialSettings, partialSettings } from './partial-log.js';
import { RequestedRun, type RunProcess } from './requested-run.js';
import {
  type RunHandler,
  type AnswerRequest,
  type CheckedRun,
  type RunRequest,
  checkedAnswerRun,
  checkedRun,
} from './run-request.js';

/** The parts and settings of {@link AgentSessions}. */
export interface AgentSessionsOptions {
  readonly sessions: SessionService;
  /** The storage of `sessions`. */
  readonly storage: SessionStorage;
  /** How long a session waits after a crash of the process that answers. Default: 30 seconds. */
  readonly turnTtlMs?: number | undefined;
  /** How often a waiting message looks whether its turn has come, besides signals. Default: 1,000 ms. */
  readonly pollMs?: number | undefined;
  /** How long a free turn waits for the process of the first message in the queue. Default: 5,000 ms. */
  readonly graceMs?: number | undefined;
  /** How partial events are saved, so that readers in other processes get them, also late ones. `false`: not at all. */
  readonly partials?: Partial<PartialSettings> | false | undefined;
  /** Generates missing ids. Default: UUIDs. */
  readonly newId?: IdGenerator | undefined;
  /** Receives errors of work in the background. Default: a warning on the console. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The invocation to stop. */
export interface StopRunRequest extends SessionKey {
  /** Default: the one that runs. */
  readonly invocationId?: string | undefined;
}

/** The approvals to list: of a user or, without `userId`, of an app. */
export interface PendingApprovalsRequest extends Pick<UserKey, 'appName'> {
  readonly userId?: string | undefined;
  /** Sessions per page. Default 100, at most 1,000. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** A page of pending approvals. */
export interface PendingApprovalPage {
  readonly approvals: readonly PendingApproval[];
  readonly nextCursor?: string;
}

/**
 * Runs agents in sessions: one message at a time gets an answer, and the log is whole however a run ends.
 *
 * @example
 * const agents = new AgentSessions({ sessions, storage });
 * const run = agents.run({ appName: 'shop', userId: 'ann', sessionId: 's-1', newMessage: 'Hello', policy: 'enqueue' }, answer);
 * for await (const event of run) console.log(event.content);
 */
export class AgentSessions {
  readonly #env: AgentEnvironment;
  readonly #running = new Set<AgentRun>();
  readonly #closing = new AbortController();
  /** Messages of others that runs of this process answer. */
  readonly #kept = new Set<Promise<void>>();
  readonly #process: RunProcess = {
    closing: this.#closing.signal,
    keep: (work) => {
      this.#kept.add(work);
      void work.finally(() => this.#kept.delete(work));
    },
  };

  constructor(options: AgentSessionsOptions) {
    const { sessions, storage, newId = randomId, onError = warnOf } = options;
    const { turnTtlMs = 30_000, pollMs = 1_000, graceMs = 5_000 } = options;
    const settings = partialSettings(options.partials);
    const partials = settings && new PartialFlusher({ storage, newId, onError }, settings);
    this.#env = { sessions, storage, newId, turnTtlMs, pollMs, graceMs, onError, partials };
  }

  /**
   * Answers a message. Creates the session if there is none, holds its turn, stores the message, and what the handler
   * yields. `policy` decides what happens while another turn runs.
   *
   * @example
   * const run = agents.run({ appName: 'shop', userId: 'ann', newMessage: 'Where is my order?' }, async function* (context) {
   *   yield { content: { role: 'model', parts: [{ text: await ask(context.history, context.signal) }] } };
   * });
   * const { session, events } = await run.result;
   */
  run(request: RunRequest, handler: RunHandler): AgentRun {
    const checked = checkedRun(requireRequest(request), this.#env.newId);
    return this.#start(checked, handler, request.signal);
  }

  /**
   * Stops a run, or takes back a waiting message, from any process. Returns whether there was one. The run ends soon, with a
   * clean log.
   *
   * @example await agents.stop({ appName: 'shop', userId: 'ann', sessionId });
   */
  async stop(request: StopRunRequest): Promise<boolean> {
    const key = checkedSessionKey(requireRequest(request));
    const turn = await this.#env.sessions.getTurn(key);
    const running = turn && invocationOf(turn.holder);
    const wanted = request.invocationId ?? running;
    if (wanted === undefined) return false;
    const session = referenceTo(key);
    if (wanted === running) return this.#stopRunning(key, wanted);
    if (!(await this.#isQueued(key, wanted))) return false;
    await this.#env.sessions.appendEvents({ session, events: [withdrawEvent(wanted)] });
    return true;
  }

  /**
   * Lists the approvals that wait for an answer, of a user or of an app. A page may be empty and have a next one.
   *
   * @example const { approvals } = await agents.pendingApprovals({ appName: 'shop', userId: 'ann' });
   */
  async pendingApprovals(request: PendingApprovalsRequest): Promise<PendingApprovalPage> {
    const { appName, userId, limit, cursor } = requireRequest(request);
    const page = await this.#env.sessions.listSessions({
      appName,
      userId,
      limit,
      cursor,
      filter: PENDING_FILTER,
      includeState: false,
    });
    return {
      approvals: page.sessions.flatMap(pendingIn),
      ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
    };
  }

  /**
   * Answers an approval, from any process: stores the answer once, and calls the handler again, which gets it from
   * `requestApproval`. The same answer again gives the same result; another one fails with `ApprovalAnsweredError`.
   *
   * @example
   * const answer = { confirmed: true };
   * await agents.answerApproval({ appName: 'shop', userId: 'ann', sessionId, approvalId, answer }, support).result;
   */
  answerApproval(request: AnswerRequest, handler: RunHandler): AgentRun {
    const checked = checkedAnswerRun(requireRequest(request));
    const { schema, answer, signal } = request;
    return this.#start(checked, handler, signal, async () => {
      await checkedAnswer(answer, schema);
    });
  }

  /**
   * Stops the runs of this process, and waits for them.
   * @example await agents.close(); // before sessions.close()
   */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#running].map(({ result }) => result));
    await Promise.allSettled(this.#kept);
  }

  #start(
    checked: CheckedRun,
    handler: RunHandler,
    signal: AbortSignal | undefined,
    prepare: () => Promise<void> = () => Promise.resolve(),
  ): AgentRun {
    if (typeof handler !== 'function') throw new InvalidInputError('must be a function', 'handler');
    const stopping = forwardedAbort([this.#closing.signal, ...(signal ? [signal] : [])]);
    const run = new AgentRun(checked.invocationId, checked.key.sessionId, async (tell) => {
      await prepare();
      return new RequestedRun(this.#env, checked, handler, tell, stopping.signal, this.#process).perform();
    });
    this.#running.add(run);
    const end = (): void => {
      stopping.release();
      this.#running.delete(run);
    };
    void run.result.then(end, end);
    return run;
  }

  /** In its own turn: so it is stored also if the session accepts nothing else, and not after the end of the run. */
  async #stopRunning(key: SessionKey, invocationId: string): Promise<boolean> {
    const turn = (await this.#env.storage.read({ key }))?.record.turn;
    if (!turn || invocationOf(turn.holder) !== invocationId) return false;
    try {
      const events = [stopEvent({ invocationId })];
      await this.#env.sessions.appendEvents({ session: referenceTo(key), events, turn: turn.token });
      return true;
    } catch (error) {
      if (error instanceof TurnLostError) return false;
      throw error;
    }
  }

  async #isQueued(key: SessionKey, invocationId: string): Promise<boolean> {
    const session = await this.#env.sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
    if (!session) throw new SessionNotFoundError(key.sessionId);
    return queuedIn(session).has(invocationId);
  }
}

function pendingIn({ appName, userId, id, metadata }: Session): PendingApproval[] {
  return [...approvalMarksIn(id, metadata)].map(([approvalId, mark]) => ({ appName, userId, approvalId, ...mark }));
}

function warnOf(error: unknown): void {
  console.warn('nestjs-agent-sessions: work of a run in the background failed', error);
}
