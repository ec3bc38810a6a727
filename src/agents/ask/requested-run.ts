import { setTimeout as delay } from 'node:timers/promises';
import { BudgetExceededError } from '../../sessions/domain/budget-error.js';
import {
  EventConflictError,
  SessionExistsError,
  SessionNotFoundError,
  TurnHeldError,
} from '../../sessions/domain/errors.js';
import { type Session, referenceTo } from '../../sessions/domain/session.js';
import { AbandonedRuns, type RunProcess } from './abandoned-runs.js';
import type { AskEnvironment } from './ask-environment.js';
import { holderOf, runningInvocation } from '../turn/agent-environment.js';
import type { RunEvent } from '../turn/run-event.js';
import { AgentsClosingError } from '../errors/closing-error.js';
import { dequeuedEvent, queueEvent, queuedIn, withdrawEvent } from '../turn/control-events.js';
import { followInvocation } from './follow.js';
import { isHandOver } from '../invocation/invocation-stop.js';
import { type QueueNews, QueueWait } from './queue-wait.js';
import { type QueuePlace, isWhole, placeOf } from '../turn/queue-place.js';
import { findMessage, findWaiting, readQueue } from './queue.js';
import { BudgetHold } from '../invocation/run-budget.js';
import { type CheckedRun, type RunResult, keptOf, withoutMessage } from './run-request.js';
import type { RunHandler } from '../invocation/agent-context.js';
import { endOf } from '../invocation/run-status.js';
import { TurnWork } from './turn-work.js';

type Try =
  | { readonly kind: 'done'; readonly result: RunResult }
  | { readonly kind: 'held'; readonly by: TurnHeldError }
  /** Others wait since before. */
  | { readonly kind: 'gave way'; readonly queue: readonly QueuePlace[] };

/** A requested run: gets its turn, as its policy says, and answers its message. */
export class RequestedRun {
  #created: Session | undefined;
  #wait: QueueWait | undefined;
  /** Whether the log has the message already. */
  #hasBegun = false;
  #tell: (event: RunEvent) => void = () => undefined;
  /** Gives back the memory that it counts for while it waits. */
  #release: (() => void) | undefined;
  readonly #budget: BudgetHold;
  readonly #abandoned: AbandonedRuns;

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
  ) {
    this.#budget = new BudgetHold(env);
    this.#abandoned = new AbandonedRuns(env, withoutMessage(request), handler, process);
  }

  /** @param tell gets each event */
  async perform(tell: (event: RunEvent) => void): Promise<RunResult> {
    this.#tell = tell;
    try {
      return await this.#perform();
    } finally {
      this.#release?.();
      await this.#budget.giveBack();
    }
  }

  async #perform(): Promise<RunResult> {
    // Not the request itself, which would keep its message in memory.
    const { answer, retriesFailure, isNewSession, policy, mayBeRetry, invocationId } = this.request;
    if (this.signal.aborted) return this.#notBegun();
    if (answer || (retriesFailure && (await this.#isStored()))) return this.#goOn();
    await this.#reserveBudget();
    try {
      if (isNewSession) await this.#create();
      let entry = policy === 'debounce' ? await this.#enqueue() : undefined;
      for (;;) {
        const news = entry ? await this.#nextNews() : TRY;
        if (news.kind === 'taken') {
          const result = await this.#follow(news.event.invocationId, news.event.seq);
          if (result) return result;
          this.#stopWaiting();
        }
        if (news.kind === 'withdrawn') return await this.#stoppedResult();
        if (news.kind === 'take over' && (await this.#runAbandoned(entry))) continue;
        const tried = await this.#try(entry);
        if (tried.kind === 'done') return tried.result;
        if (tried.kind === 'held') {
          this.#wait?.noteHeld();
          const repeated = await this.#followEarlier(tried.by);
          if (repeated) {
            // It began to wait after the message was taken.
            if (entry && !this.signal.aborted) await this.#dequeue();
            return repeated;
          }
          // The process of the first request died, or its turn was rewound: it is this one's turn.
          if (mayBeRetry && runningInvocation(tried.by) === invocationId) continue;
          if (policy === 'reject') throw tried.by;
          // Its message was taken by a process that died, and another message runs now.
          if (entry && !this.#wait && !(await this.#pause())) return await this.#stoppedResult();
        }
        if (tried.kind === 'gave way') this.#wait?.learn(tried.queue);
        if (tried.kind === 'gave way' && policy === 'reject') {
          await this.#runAbandoned();
          if (!(await this.#pauseAfterFailure()) || this.signal.aborted) return await this.#stoppedResult();
          continue;
        }
        entry ??= await this.#enqueue(tried.kind === 'held' ? runningInvocation(tried.by) : undefined);
      }
    } finally {
      this.#stopWaiting();
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
      if (!(await this.#isStored().catch(() => false))) throw error;
    }
  }

  /** An answer to an approval does not wait in the log: it is stored when its turn begins. A retry stores nothing. */
  async #goOn(): Promise<RunResult> {
    const { answer, invocationId, policy } = this.request;
    for (;;) {
      const tried = await this.#try(undefined);
      if (tried.kind === 'done') return tried.result;
      if (tried.kind === 'held') {
        const isRetried = !answer && runningInvocation(tried.by) === invocationId;
        const repeated = isRetried ? await this.#followEarlier(tried.by) : undefined;
        if (repeated) return repeated;
        if (policy === 'reject' && !isRetried) throw tried.by;
      }
      const hasRun = tried.kind === 'gave way' && (await this.#runAbandoned());
      const goesOn = hasRun ? await this.#pauseAfterFailure() : await this.#pause();
      if (!goesOn || this.signal.aborted) return this.#stoppedResult();
    }
  }

  async #isStored(): Promise<boolean> {
    const { key, invocationId } = this.request;
    const { message } = await findMessage(this.env.sessions, key, invocationId);
    return message !== undefined;
  }

  /** Waits until the next try. Returns whether the run goes on. */
  async #pause(times = 1): Promise<boolean> {
    await this.#hold(false);
    await delay(times * this.env.pollMs, undefined, { signal: this.signal }).catch(() => undefined);
    return !this.signal.aborted;
  }

  /** Answers what was abandoned before this message. Returns whether there was something. */
  async #runAbandoned(entry?: QueuePlace): Promise<boolean> {
    this.#throwIfHandedOver();
    return this.#abandoned.runFirst(this.signal, entry);
  }

  /** A message that fails before it is stored stays the first in the queue. Returns whether the run goes on. */
  async #pauseAfterFailure(): Promise<boolean> {
    const { failures } = this.#abandoned;
    return failures === 0 || this.#pause(failures);
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

  async #try(entry: QueuePlace | undefined): Promise<Try> {
    const { env, request, handler, working } = this;
    const { key } = request;
    const work = new TurnWork(env, { ...request, entry, hasBudget: this.#budget.isHeld }, handler, this.#tell, working);
    let hasBegun = false;
    try {
      const holder = holderOf(work.invocationId);
      return await env.sessions.withTurn({ ...key, holder, ttlMs: env.turnTtlMs }, async (turn): Promise<Try> => {
        hasBegun = true;
        // Others may have written since the creation.
        const created = turn.number === 1 && !entry ? this.#created : undefined;
        this.#created = undefined;
        const done = await work.run(turn, created);
        return 'queue' in done ? { kind: 'gave way', queue: done.queue } : { kind: 'done', result: done };
      });
    } catch (error) {
      if (hasBegun) throw error;
      if (error instanceof TurnHeldError) return { kind: 'held', by: error };
      // A session that was deleted while the message waited is not created again.
      if (!(error instanceof SessionNotFoundError) || entry || !request.mayCreate) throw error;
      await this.#create();
      return this.#try(entry);
    }
  }

  /** Stores the message until its turn comes. */
  async #enqueue(target?: string): Promise<QueuePlace> {
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
    await this.#hold(true);
    const waiting = this.#hasBegun ? await findWaiting(this.env, key, invocationId) : undefined;
    // What its process has left to others waits already, at a better place.
    const entry = waiting?.handedOver
      ? { ...waiting, message }
      : placeOf({ ...queued, invocationId, seq: await this.#appendQueued(event) });
    // What it brings is read again in its turn, but for what the log has not.
    if (!isWhole(entry)) this.request = keptOf(this.request);
    // Before anything is read, so that it misses nothing.
    this.#wait = new QueueWait(this.env, key, entry, quietMs, this.signal);
    const session = await sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
    if (!session) throw new SessionNotFoundError(key.sessionId);
    const others = new Set(queuedIn(session));
    others.delete(invocationId);
    this.#wait.learn(await readQueue(this.env, key, others));
    return entry;
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

  async #nextNews(): Promise<QueueNews> {
    if (!this.#wait) return TRY;
    try {
      return await this.#wait.next();
    } catch (error) {
      if (!this.signal.aborted) throw error;
      this.#throwIfHandedOver();
      const { key, invocationId } = this.request;
      await this.env.sessions.appendEvents({ session: referenceTo(key), events: [withdrawEvent(invocationId)] });
      return { kind: 'withdrawn' };
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

  /** The result of an earlier request with the same id, which is running or done. */
  async #followEarlier(held: TurnHeldError): Promise<RunResult | undefined> {
    const { request, env } = this;
    if (!request.mayBeRetry) return undefined;
    const { message, lastSeq } = await findMessage(env.sessions, request.key, request.invocationId);
    if (message) this.#hasBegun = true;
    if (!message && runningInvocation(held) !== request.invocationId) return undefined;
    await this.#hold(false);
    return this.#follow(message?.invocationId ?? request.invocationId, message?.seq ?? lastSeq);
  }

  /** Undefined if the process that took the message died before the answer, so that it is this one's turn. */
  async #follow(invocationId: string, afterSeq: number): Promise<RunResult | undefined> {
    const { env, request, signal } = this;
    const followed = { key: request.key, invocationId, afterSeq, agentName: request.agentName };
    for (let isFirst = true; ; isFirst = false) {
      const { events, isClosed } = await followInvocation(env, followed, this.#tell, signal);
      if (!isClosed) this.#throwIfHandedOver();
      if (!isClosed && !signal.aborted && invocationId === request.invocationId) return undefined;
      if (isClosed || signal.aborted || !(await this.#isHandedOver(invocationId))) {
        const status = isClosed ? endOf(events, invocationId, request) : signal.aborted ? 'stopped' : 'interrupted';
        return { status, invocationId, events, session: await this.#load() };
      }
      if (isFirst || (await this.#pause())) await this.#runAbandoned();
      await this.#pauseAfterFailure();
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

const TRY = { kind: 'try' } as const;
