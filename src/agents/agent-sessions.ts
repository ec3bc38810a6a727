import { InvalidInputError, TurnLostError } from '../sessions/domain/errors/errors.js';
import { forwardedAbort } from '../sessions/domain/process/forwarded-abort.js';
import { type SessionKey, checkedSessionKey } from '../sessions/domain/values/ids.js';
import { assertWholeNumber } from '../sessions/domain/values/input-checks.js';
import { requireOptionsOf } from '../sessions/domain/values/request-fields.js';
import { referenceTo } from '../sessions/domain/session/session.js';
import { tracedWork } from '../sessions/tracing/trace.js';
import type { AskEnvironment } from './ask/run-limits.js';
import { isCalledWithinRun, withinRun } from './calling-runs.js';
import { checkedAgentRequest } from './request-fields.js';
import { RunProcess } from './ask/run-process.js';
import { holderOf, runningInvocation } from './turn/agent-environment.js';
import { AgentRun } from './ask/agent-run.js';
import {
  type AgentSessionsOptions,
  type CloseAgentsOptions,
  MAX_DRAIN_MS,
  createAskEnvironment,
} from './agent-options.js';
import { type HandedOver, stopEvent, withdrawEvent } from './turn/control-events.js';
import { checkedAnswer } from './invocation/approval-answers.js';
import { RunEvents } from './turn/run-events.js';
import { isHandOver } from './turn/turn-news.js';
import {
  type PendingApprovalPage,
  type PendingApprovalsRequest,
  listPendingApprovals,
} from './invocation/list-pending-approvals.js';
import { type ExpireApprovalsRequest, expireAll, expiredApprovals, isLeftToOthers } from './ask/expired-approvals.js';
import { findHandedOver, findWaiting } from './ask/queue.js';
import type { QueuePlace } from './turn/queue-place.js';
import { RequestedRun } from './ask/requested-run.js';
import { untilNotOvertaken, withdrawApprovals } from './invocation/withdrawn-approvals.js';
import {
  type AnswerRequest,
  type CheckedRun,
  type RunRequest,
  type StopRunRequest,
  checkedAnswerRun,
  checkedExpiry,
  checkedRun,
} from './ask/run-request.js';
import { takeRunQuota } from './ask/run-quota.js';
import type { RunHandler } from './invocation/agent-context.js';
import { TurnWork } from './ask/turn-work.js';

// eslint-disable-next-line @typescript-eslint/require-await
const NO_HANDLER: RunHandler = async function* () {
  yield* [];
};

const DEFAULT_DRAIN_MS = 5_000;

/**
 * Runs agents in sessions: one message at a time gets an answer, and the log is whole however a run ends.
 *
 * @example
 * const agents = new AgentSessions({ sessions: new InMemorySessionService() });
 * const run = agents.run({ appName: 'shop', userId: 'ann', sessionId: 's-1', newMessage: 'Hello', policy: 'enqueue' }, answer);
 * for await (const event of run) console.log(event.content);
 */
export class AgentSessions {
  readonly #env: AskEnvironment;
  readonly #drainMs: number;
  readonly #process = new RunProcess();

  constructor(options: AgentSessionsOptions) {
    this.#env = createAskEnvironment(requireOptionsOf('AgentSessions', options, 'sessions'), this.#process.draining);
    this.#drainMs = options.drainMs ?? DEFAULT_DRAIN_MS;
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
    const checked = checkedRun(checkedAgentRequest('run', request), this.#env.newId);
    return this.#start(checked, handler, request.signal);
  }

  /**
   * Stops a run, or takes back a waiting message, from any process: without `invocationId`, the run at work, or the one that was
   * handed over. Returns whether there was one. The run ends soon, with a
   * clean log. A run that waits for approvals ends at once, and its requests are withdrawn: name it by `invocationId`.
   *
   * @example await agents.stop({ appName: 'shop', userId: 'ann', sessionId });
   */
  async stop(request: StopRunRequest): Promise<boolean> {
    const key = checkedSessionKey(checkedAgentRequest('stop', request));
    return untilNotOvertaken(() => this.#stop(key, request.invocationId));
  }

  /**
   * Lists the approvals that wait for an answer, of a user or of an app, with what each asks: hint, payload, schema, and the call
   * to approve. A page may be empty and have a next one.
   *
   * @example const { approvals } = await agents.pendingApprovals({ appName: 'shop', userId: 'ann' });
   */
  async pendingApprovals(request: PendingApprovalsRequest): Promise<PendingApprovalPage> {
    return listPendingApprovals(this.#env.sessions, checkedAgentRequest('pendingApprovals', request));
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
    const checked = checkedAnswerRun(checkedAgentRequest('answerApproval', request));
    const { schema, answer, signal } = request;
    return this.#start(checked, handler, signal, async () => {
      await checkedAnswer(answer, schema);
    });
  }

  /**
   * Lets agents go on whose approvals have expired, of a user or of an app: each request counts as refused, and its handler is called
   * again. Call it regularly, on any instance. Returns how often one went on, or began to and takes longer than `graceMs`. Failures of handlers go to `onRunFailure`. `AgentsModule` does it.
   *
   * @example setInterval(() => void agents.expireApprovals({ appName: 'shop' }, support), 60_000);
   */
  async expireApprovals(request: ExpireApprovalsRequest, handler: RunHandler): Promise<number> {
    const { outputKey, outputSchema, onMismatch, ...owner } = checkedAgentRequest('expireApprovals', request);
    return expireAll(expiredApprovals(this.#env.sessions, owner), this.#env.graceMs, async (place) => {
      if (this.#process.draining.aborted) return 0;
      const checked = checkedExpiry({ ...place, policy: 'reject', outputKey, outputSchema, onMismatch });
      return this.#expire(checked, handler);
    });
  }

  /**
   * The apps of the store.
   * @example await agents.storedApps(); // ['shop']
   */
  storedApps(): Promise<readonly string[]> {
    return this.#env.sessions.listApps();
  }

  /**
   * Closes this instance, such as for a deploy, without the end of an answer. Runs at work, and those that their handlers begin, may
   * finish for `drainMs`. Then they are handed over: their turn ends, and the same request, or the next message of the session, goes on with them elsewhere. Messages
   * that wait stay in the queue. The callers of both, and of new runs, get `AgentsClosingError`.
   *
   * @example await agents.close({ drainMs: 20_000 }); // before sessions.close()
   */
  async close(options: CloseAgentsOptions = {}): Promise<void> {
    const { drainMs = this.#drainMs } = checkedAgentRequest('close', options);
    assertWholeNumber(drainMs, { path: 'drainMs', from: 0, to: MAX_DRAIN_MS });
    await this.#process.close(drainMs);
  }

  #start(
    checked: CheckedRun,
    handler: RunHandler,
    signal: AbortSignal | undefined,
    prepare: () => Promise<void> = () => Promise.resolve(),
  ): AgentRun {
    if (typeof handler !== 'function') throw new InvalidInputError('must be a function', 'handler');
    const byCaller = signal ? [signal] : [];
    const isWithinRun = isCalledWithinRun(this);
    const { closing, draining } = this.#process;
    const waiting = forwardedAbort([isWithinRun ? closing : draining, ...byCaller]);
    const working = forwardedAbort([closing, ...byCaller]);
    const signals = [waiting.signal, working.signal] as const;
    const { key } = checked;
    // An approval that expires has nobody who could ask again.
    const isFree = checked.answer?.isExpiry === true;
    const events = new RunEvents();
    // What the closures here hold stays until the run is over, so the message is not among it.
    const requested = new RequestedRun(this.#env, checked, handler, ...signals, this.#process, events);
    const { invocationId, agentName, mayBeRetry, retriesFailure } = checked;
    const identity = { key, invocationId, mayBeRetry, retriesFailure };
    const { result, end: endCalls } = withinRun(this, () =>
      tracedWork(
        'run',
        () => ({ ...key, invocationId, agentName }),
        async () => {
          await prepare();
          if (isFree || waiting.signal.aborted) return requested.perform();
          const { sessions, runs } = this.#env;
          await takeRunQuota(sessions, identity);
          return runs.within(identity, async () => requested.perform());
        },
      ),
    );
    const run = new AgentRun(invocationId, key.sessionId, events, result);
    // Nobody waits for what is refused.
    if (!isHandOver(waiting.signal)) this.#process.keep(run.result);
    const end = (): void => {
      endCalls();
      waiting.release();
      working.release();
    };
    void run.result.then(end, end);
    return run;
  }

  async #stop(key: SessionKey, invocationId: string | undefined): Promise<boolean> {
    const turn = await this.#env.sessions.getTurn(key);
    const running = runningInvocation(turn);
    const wanted = invocationId ?? running ?? (await findHandedOver(this.#env, key))?.invocationId;
    if (wanted === undefined) return false;
    if (wanted === running && (await this.#stopRunning(key, wanted))) return true;
    const waiting = await findWaiting(this.#env, key, wanted);
    if (!waiting) return withdrawApprovals(this.#env, key, wanted);
    if (waiting.handedOver) return this.#stopHandedOver(key, waiting, waiting.handedOver);
    await this.#env.sessions.appendEvents({ session: referenceTo(key), events: [withdrawEvent(wanted)] });
    return true;
  }

  /** Others may be faster, or hold the turn: the next call looks again. */
  async #expire(checked: CheckedRun, handler: RunHandler): Promise<number> {
    try {
      await this.#start(checked, handler, undefined).result;
      return 1;
    } catch (error) {
      if (!isLeftToOthers(error)) this.#env.onError(error);
      return 0;
    }
  }

  /** In its own turn: so it is stored also if the session accepts nothing else, and not after the end of the run. */
  async #stopRunning(key: SessionKey, invocationId: string): Promise<boolean> {
    const turn = (await this.#env.storage.read({ key }))?.record.turn;
    if (!turn || runningInvocation(turn) !== invocationId) return false;
    try {
      const events = [stopEvent({ invocationId })];
      await this.#env.sessions.appendEvents({ session: referenceTo(key), events, turn: turn.token });
      return true;
    } catch (error) {
      if (error instanceof TurnLostError) return false;
      throw error;
    }
  }

  /** Goes on with the invocation, and stops it at once, so that the log is closed. */
  async #stopHandedOver(key: SessionKey, entry: QueuePlace, { agentName }: HandedOver): Promise<boolean> {
    const { invocationId, message = {} } = entry;
    const { sessions, newId, turnTtlMs } = this.#env;
    const checked = checkedRun({ ...key, newMessage: 'stop', invocationId, agentName, create: false }, newId);
    const due = { ...checked, message, entry };
    const work = new TurnWork(this.#env, due, NO_HANDLER, new RunEvents(), AbortSignal.abort());
    const holder = holderOf(invocationId);
    await sessions.withTurn({ ...key, holder, ttlMs: turnTtlMs }, (turn) => work.run(turn, undefined));
    return true;
  }
}
