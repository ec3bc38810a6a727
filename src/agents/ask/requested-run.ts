import { setTimeout as delay } from 'node:timers/promises';
import { BudgetExceededError } from '../../sessions/domain/errors/budget-error.js';
import {
  EventConflictError,
  SessionExistsError,
  SessionNotFoundError,
  TurnHeldError,
} from '../../sessions/domain/errors/errors.js';
import { type Session, referenceTo } from '../../sessions/domain/session/session.js';
import { StandInRuns } from './stand-in-runs.js';
import type { RunProcess } from './run-process.js';
import type { AskEnvironment } from './run-limits.js';
import { holderOf, runningInvocation } from '../turn/agent-environment.js';
import type { RunEvents } from '../turn/run-events.js';
import { AgentsClosingError } from '../errors/closing-error.js';
import { dequeuedEvent, queueEvent, queuedIn, withdrawEvent } from '../turn/control-events.js';
import { followInvocation } from './follow.js';
import { isHandOver } from '../turn/turn-news.js';
import { QueueWait } from './queue-wait.js';
import { type MessagePlace, type Seen, type Step, decideStep } from './message-while-busy.js';
import { type QueuePlace, isWhole, toQueuePlace } from '../turn/queue-place.js';
import { findMessage, findWaiting, readQueue } from './queue.js';
import { BudgetHold } from '../invocation/run-budget.js';
import { type CheckedRun, type RunResult, assertPlaceIn, keptOf, withoutMessage } from './run-request.js';
import type { RunHandler } from '../invocation/agent-context.js';
import { findEnd } from '../invocation/run-status.js';
import { TurnWork } from './turn-work.js';

/** A requested run: gets its turn, as its policy says, and answers its message. */
export class RequestedRun {
  #created: Session | undefined;
  /** Its place in the queue, once it has waited. */
  #entry: QueuePlace | undefined;
  #wait: QueueWait | undefined;
  /** Whether the request answers an approval, or repeats what failed: then it does not wait in the queue. */
  #isStored = false;
  /** Whether the log has the message already. */
  #hasBegun = false;
  /** Gives back the memory that it counts for while it waits. */
  #release: (() => void) | undefined;
  readonly #budget: BudgetHold;
  readonly #standIn: StandInRuns;

  constructor(
    private readonly env: AskEnvironment,
    /** Without what the log has, once its message waits there. */
    private request: CheckedRun,
    private readonly handler: RunHandler,
    /** Ends the waiting: by the caller, or when the process closes. */
    private readonly signal: AbortSignal,
    /** Ends the work: by the caller, or when the process has no time left. */
    private readonly working: AbortSignal,
    process: RunProcess,
    private readonly shown: RunEvents,
  ) {
    this.#budget = new BudgetHold(env);
    this.#standIn = new StandInRuns(env, withoutMessage(request), handler, process);
  }

  async perform(): Promise<RunResult> {
    try {
      return await this.#perform();
    } finally {
      this.#stopWaiting();
      this.#release?.();
      await this.#budget.giveBack();
    }
  }

  async #perform(): Promise<RunResult> {
    // Not the request itself, which would keep its message in memory.
    const { answer, retriesFailure, isNewSession } = this.request;
    if (this.signal.aborted) return this.#notBegun();
    this.#isStored = answer !== undefined || (retriesFailure && (await this.#isInLog()));
    if (!this.#isStored) await this.#reserveBudget();
    if (!this.#isStored && isNewSession) await this.#create();
    let seen: Seen = { sight: 'begins' };
    for (;;) {
      const next = await this.#take(decideStep(seen.sight, this.#place, this.request.policy), seen);
      if ('status' in next) return next;
      seen = next;
    }
  }

  get #place(): MessagePlace {
    if (this.#isStored) return 'stored';
    if (!this.#entry) return 'new';
    return this.#wait ? 'queued' : 'orphaned';
  }

  /** Returns the result, or what is seen then. */
  async #take(step: Step, { by, message }: Seen): Promise<RunResult | Seen> {
    switch (step) {
      case 'try':
        return this.#try();
      case 'enqueue':
        return this.#enqueue(runningInvocation(by));
      case 'wait':
        return this.#nextNews();
      case 'follow':
        return this.#followTaken(message, by);
      case 'stand in':
        return { sight: (await this.#answerFirstInQueue()) ? 'ran' : 'alone' };
      case 'pause':
        return this.#pause();
      case 'back off':
        // A message that fails before it is stored stays the first in the queue.
        return this.#pause(this.#standIn.failures);
      case 'refuse':
        throw by as unknown;
      case 'end':
        return this.#stoppedResult();
    }
  }

  /** A message that was stored before is answered all the same. */
  async #reserveBudget(): Promise<void> {
    const { isNewSession, mayBeRetry, policy, key } = this.request;
    try {
      await this.#budget.reserve(isNewSession ? { ...key, sessionId: undefined } : key);
    } catch (error) {
      if (!(error instanceof BudgetExceededError)) throw error;
      // The run that reserves the rest may be the one that this message waits for: it reserves in its turn.
      if (error.budget.reserved && policy !== 'reject') return;
      if (!mayBeRetry) throw error;
      if (!(await this.#isInLog().catch(() => false))) throw error;
    }
  }

  async #isInLog(): Promise<boolean> {
    const { key, invocationId } = this.request;
    const { message } = await findMessage(this.env.sessions, key, invocationId);
    return message !== undefined;
  }

  /** Waits until the next try. */
  async #pause(times = 1): Promise<Seen> {
    if (times > 0) {
      await this.#hold(false);
      await delay(times * this.env.pollMs, undefined, { signal: this.signal }).catch(() => undefined);
    }
    return { sight: this.signal.aborted ? 'aborted' : 'paused' };
  }

  /** Answers the message before this one that its process has left. Returns whether there was one. */
  async #answerFirstInQueue(): Promise<boolean> {
    this.#throwIfHandedOver();
    return this.#standIn.runFirst(this.signal, this.#entry);
  }

  /** One of two simultaneous creators wins, and both go on. */
  async #create(): Promise<void> {
    const { key, state } = this.request;
    try {
      this.#created = await this.env.sessions.createSession({ ...key, state });
    } catch (error) {
      if (!(error instanceof SessionExistsError)) throw error;
    }
  }

  async #try(): Promise<RunResult | Seen> {
    const { env, request, handler, working } = this;
    const { key } = request;
    const entry = this.#entry;
    const work = new TurnWork(env, { ...request, entry, hasBudget: this.#budget.isHeld }, handler, this.shown, working);
    let hasBegun = false;
    try {
      const holder = holderOf(work.invocationId);
      return await env.sessions.withTurn({ ...key, holder, ttlMs: env.turnTtlMs }, async (turn) => {
        hasBegun = true;
        // Others may have written since the creation.
        const created = turn.number === 1 && !entry ? this.#created : undefined;
        this.#created = undefined;
        const done = await work.run(turn, created);
        if (!('queue' in done)) return done;
        this.#wait?.learn(done.queue);
        return { sight: 'behind' };
      });
    } catch (error) {
      if (hasBegun) throw error;
      if (error instanceof TurnHeldError) return this.#held(error);
      // A session that was deleted while the message waited is not created again.
      if (!(error instanceof SessionNotFoundError) || entry || !request.mayCreate) throw error;
      await this.#create();
      return this.#try();
    }
  }

  /** An earlier request with the same id may be the one that runs, or have brought the message. */
  async #held(by: TurnHeldError): Promise<Seen> {
    this.#wait?.noteHeld();
    const { key, invocationId, answer, mayBeRetry } = this.request;
    const isSame = runningInvocation(by) === invocationId;
    if (!mayBeRetry || answer || (this.#isStored && !isSame)) return { sight: 'held', by };
    const { message, lastSeq } = await findMessage(this.env.sessions, key, invocationId);
    if (message) this.#hasBegun = true;
    if (!message && !isSame) return { sight: 'held', by };
    return { sight: 'taken', by, message: message ?? { invocationId, seq: lastSeq } };
  }

  /** Stores the message until its turn comes. */
  async #enqueue(target: string | undefined): Promise<Seen> {
    const { key, invocationId, message, policy, stateDelta, customMetadata, rewindTo, quietMs } = this.request;
    const { sessions } = this.env;
    const queued = {
      policy,
      message,
      ...(stateDelta && { stateDelta }),
      ...(customMetadata && { customMetadata }),
      ...(rewindTo !== undefined && { rewindTo }),
      ...(target !== undefined && { target }),
    };
    const event = queueEvent(invocationId, key.sessionId, queued);
    if (rewindTo !== undefined) await this.#refuseMissingPlace(rewindTo);
    await this.#hold(true);
    const waiting = this.#hasBegun ? await findWaiting(this.env, key, invocationId) : undefined;
    // What its process has left to others waits already, at a better place.
    const entry: QueuePlace = waiting?.handedOver
      ? { ...waiting, message }
      : toQueuePlace({ ...queued, invocationId, seq: await this.#appendQueued(event) });
    // What it brings is read again in its turn, but for what the log has not.
    if (!isWhole(entry)) this.request = keptOf(this.request);
    this.#entry = entry;
    // Before anything is read, so that it misses nothing.
    this.#wait = new QueueWait(this.env, key, entry, quietMs, this.signal);
    const session = await sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
    if (!session) throw new SessionNotFoundError(key.sessionId);
    const others = new Set(queuedIn(session));
    others.delete(invocationId);
    this.#wait.learn(await readQueue(this.env, key, others));
    return { sight: 'enqueued' };
  }

  /** Before the message is in the queue, which it could not leave. */
  async #refuseMissingPlace(rewindTo: number): Promise<void> {
    const session = await this.env.sessions.getSession({ ...this.request.key, config: { numRecentEvents: 0 } });
    assertPlaceIn(session ?? { version: 0 }, rewindTo);
  }

  async #appendQueued(event: ReturnType<typeof queueEvent>): Promise<number> {
    const { env, request } = this;
    try {
      const [stored] = await env.sessions.appendEvents({ session: referenceTo(request.key), events: [event] });
      return stored?.seq ?? 0;
    } catch (error) {
      // A repeated request may find another turn running.
      if (error instanceof EventConflictError && request.mayBeRetry) return error.seq;
      if (!(error instanceof SessionNotFoundError) || request.policy !== 'debounce' || !request.mayCreate) throw error;
      await this.#create();
      return this.#appendQueued(event);
    }
  }

  async #nextNews(): Promise<Seen> {
    try {
      return (await this.#wait?.next()) ?? { sight: 'first' };
    } catch (error) {
      if (!this.signal.aborted) throw error;
      this.#throwIfHandedOver();
      const { key, invocationId } = this.request;
      await this.env.sessions.appendEvents({ session: referenceTo(key), events: [withdrawEvent(invocationId)] });
      return { sight: 'withdrawn' };
    }
  }

  /** It begins to wait: counts what it holds, or fails, and leaves the budget to others. */
  async #hold(isInLog: boolean): Promise<void> {
    await this.#budget.giveBack();
    this.#release ??= this.env.waitingMemory.reserve(this.request, isInLog);
  }

  async #dequeue(): Promise<void> {
    const { key, invocationId } = this.request;
    await this.env.sessions.appendEvents({ session: referenceTo(key), events: [dequeuedEvent([invocationId])] });
  }

  #stopWaiting(): void {
    this.#wait?.stop();
    this.#wait = undefined;
  }

  /**
   * The result of the invocation that took the message. If its process died, or its turn was rewound, it is this one's turn, unless
   * somebody else has it.
   */
  async #followTaken(message: Seen['message'], by: TurnHeldError | undefined): Promise<RunResult | Seen> {
    const { invocationId } = this.request;
    await this.#hold(false);
    const result = await this.#follow(message?.invocationId ?? invocationId, message?.seq ?? 0);
    // It began to wait after the message was taken.
    if (result && by && this.#entry && !this.signal.aborted) await this.#dequeue();
    if (result) return result;
    if (!by) this.#stopWaiting();
    return by && runningInvocation(by) !== invocationId ? { sight: 'held', by } : { sight: 'left' };
  }

  /** Undefined if the process that took the message died before the answer, so that it is this one's turn. */
  async #follow(invocationId: string, afterSeq: number): Promise<RunResult | undefined> {
    const { env, request, signal } = this;
    const followed = { key: request.key, invocationId, afterSeq, agentName: request.agentName };
    for (let isFirst = true; ; isFirst = false) {
      const { events, isClosed } = await followInvocation(env, followed, this.shown, signal);
      if (!isClosed) this.#throwIfHandedOver();
      if (!isClosed && !signal.aborted && invocationId === request.invocationId) return undefined;
      if (isClosed || signal.aborted || !(await this.#isHandedOver(invocationId))) {
        const status = isClosed ? findEnd(events, invocationId, request) : signal.aborted ? 'stopped' : 'interrupted';
        return { status, invocationId, events, session: await this.#load() };
      }
      if (!isFirst) await this.#pause();
      if (isFirst || !signal.aborted) await this.#answerFirstInQueue();
      await this.#pause(this.#standIn.failures);
    }
  }

  /** Whether the invocation that took the message was left to others: this request is one of them. */
  async #isHandedOver(invocationId: string): Promise<boolean> {
    const waiting = await findWaiting(this.env, this.request.key, invocationId);
    return waiting?.handedOver !== undefined;
  }

  /** There is no result without a session. */
  async #notBegun(): Promise<RunResult> {
    try {
      return await this.#stoppedResult();
    } catch (error) {
      if (error instanceof SessionNotFoundError) this.signal.throwIfAborted();
      throw error;
    }
  }

  /** What waits stays in the log, and is not stopped. */
  #throwIfHandedOver(): void {
    if (isHandOver(this.signal)) throw new AgentsClosingError(this.request.invocationId);
  }

  async #stoppedResult(): Promise<RunResult> {
    this.#throwIfHandedOver();
    return { status: 'stopped', invocationId: this.request.invocationId, events: [], session: await this.#load() };
  }

  /** Many messages may be answered at once, and their results have large sessions. */
  async #load(): Promise<Session> {
    const { key, config } = this.request;
    const session = await this.env.loads.run(async () => this.env.sessions.getSession({ ...key, config }));
    if (!session) throw new SessionNotFoundError(key.sessionId);
    return session;
  }
}
