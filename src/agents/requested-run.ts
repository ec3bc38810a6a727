import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { BudgetExceededError } from '../sessions/domain/budget-error.js';
import {
  EventConflictError,
  SessionExistsError,
  SessionNotFoundError,
  TurnHeldError,
} from '../sessions/domain/errors.js';
import type { LoggedEvent } from '../sessions/domain/event.js';
import { type Session, referenceTo } from '../sessions/domain/session.js';
import { type AgentEnvironment, holderOf, invocationOf } from './agent-environment.js';
import type { RunEvent } from './agent-run.js';
import { type QueueEntry, inQueueOrder, queueEvent, queuedIn, withdrawEvent } from './control-events.js';
import { follow } from './follow.js';
import { type QueueNews, QueueWait } from './queue-wait.js';
import { findMessage, readQueue } from './queue.js';
import type { RunHandler, CheckedRun, RunResult } from './run-request.js';
import { statusOf } from './run-status.js';
import { TurnWork } from './turn-work.js';

type Try =
  | { readonly kind: 'done'; readonly result: RunResult }
  | { readonly kind: 'held'; readonly by: TurnHeldError }
  /** Others wait since before. */
  | { readonly kind: 'gave way'; readonly queue: readonly QueueEntry[] };

/** The process of a run, for what is not the caller's. */
export interface RunProcess {
  /** Aborts when the process stops its runs. */
  readonly closing: AbortSignal;
  /** Waits for this work when it closes. */
  readonly keep: (work: Promise<void>) => void;
}

/** A requested run: gets its turn, as its policy says, and answers its message. */
export class RequestedRun {
  #created: Session | undefined;
  #wait: QueueWait | undefined;
  /** The abandoned message that failed last. */
  #failed: { readonly invocationId: string; readonly times: number; readonly error: unknown } | undefined;

  constructor(
    private readonly env: AgentEnvironment,
    private readonly request: CheckedRun,
    private readonly handler: RunHandler,
    private readonly tell: (event: RunEvent) => void,
    private readonly signal: AbortSignal,
    private readonly process: RunProcess,
  ) {}

  async perform(): Promise<RunResult> {
    const { request } = this;
    if (this.signal.aborted) return this.#notBegun();
    if (request.answer) return this.#answer();
    await this.#checkBudget();
    try {
      if (request.isNewSession) await this.#create();
      let entry = request.policy === 'debounce' ? await this.#enqueue() : undefined;
      for (;;) {
        const news = entry ? await this.#nextNews() : TRY;
        if (news.kind === 'taken') {
          const result = await this.#followTaken(news.event);
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
          if (repeated) return repeated;
          // The process of the first request died, or its turn was rewound: it is this one's turn.
          if (request.mayBeRetry && invocationOf(tried.by.holder) === request.invocationId) continue;
          if (request.policy === 'reject') throw tried.by;
          // Its message was taken by a process that died, and another message runs now.
          if (entry && !this.#wait && !(await this.#pause())) return await this.#stoppedResult();
        }
        if (tried.kind === 'gave way') this.#wait?.learn(tried.queue);
        if (tried.kind === 'gave way' && request.policy === 'reject') {
          await this.#runAbandoned();
          if (!(await this.#pauseAfterFailure()) || this.signal.aborted) return await this.#stoppedResult();
          continue;
        }
        entry ??= await this.#enqueue(tried.kind === 'held' ? invocationOf(tried.by.holder) : undefined);
      }
    } finally {
      this.#stopWaiting();
    }
  }

  /** A message that was stored before is answered all the same. */
  async #checkBudget(): Promise<void> {
    const { env, request } = this;
    const { appName, userId, sessionId } = request.key;
    try {
      await env.sessions.checkBudget({ appName, userId, ...(!request.isNewSession && { sessionId }) });
    } catch (error) {
      if (!(error instanceof BudgetExceededError) || !request.mayBeRetry) throw error;
      const { message } = await findMessage(env.sessions, request.key, request.invocationId).catch(() => {
        throw error;
      });
      if (!message) throw error;
    }
  }

  /** An answer to an approval does not wait in the log: it is stored when its turn begins. */
  async #answer(): Promise<RunResult> {
    for (;;) {
      const tried = await this.#try(undefined);
      if (tried.kind === 'done') return tried.result;
      if (tried.kind === 'held' && this.request.policy === 'reject') throw tried.by;
      if (!(await this.#pause())) return this.#stoppedResult();
    }
  }

  /** Waits until the next try. Returns whether the run goes on. */
  async #pause(times = 1): Promise<boolean> {
    await delay(times * this.env.pollMs, undefined, { signal: this.signal }).catch(() => undefined);
    return !this.signal.aborted;
  }

  /** A message that fails before it is stored stays the first in the queue. Returns whether the run goes on. */
  async #pauseAfterFailure(): Promise<boolean> {
    if (!this.#failed) return true;
    const { times, error } = this.#failed;
    if (times >= MAX_FAILURES) throw error;
    return this.#pause(times);
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

  async #try(entry: QueueEntry | undefined, work = this.#work(entry)): Promise<Try> {
    const { key } = this.request;
    let hasBegun = false;
    try {
      const holder = holderOf(work.invocationId);
      return await this.env.sessions.withTurn(
        { ...key, holder, ttlMs: this.env.turnTtlMs },
        async (turn): Promise<Try> => {
          hasBegun = true;
          // Others may have written since the creation.
          const created = turn.number === 1 && !entry ? this.#created : undefined;
          this.#created = undefined;
          const done = await work.run(turn, created);
          return 'queue' in done ? { kind: 'gave way', queue: done.queue } : { kind: 'done', result: done };
        },
      );
    } catch (error) {
      if (hasBegun) throw error;
      if (error instanceof TurnHeldError) return { kind: 'held', by: error };
      // A session that was deleted while the message waited is not created again.
      if (!(error instanceof SessionNotFoundError) || entry || !this.request.mayCreate) throw error;
      await this.#create();
      return this.#try(entry, work);
    }
  }

  #work(entry: QueueEntry | undefined): TurnWork {
    const { env, request, handler, tell, signal } = this;
    return new TurnWork(env, { ...request, entry }, handler, tell, signal);
  }

  /** Stores the message until its turn comes. */
  async #enqueue(target?: string): Promise<QueueEntry> {
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
    const seq = await this.#appendQueued(queueEvent(invocationId, key.sessionId, queued));
    const entry = { ...queued, invocationId, seq };
    const session = await sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
    if (!session) throw new SessionNotFoundError(key.sessionId);
    const others = new Set(queuedIn(session));
    others.delete(invocationId);
    const queue = await readQueue(this.env, key, others);
    this.#wait = new QueueWait(this.env, key, entry, queue, quietMs, this.signal);
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
      const { key, invocationId } = this.request;
      await this.env.sessions.appendEvents({ session: referenceTo(key), events: [withdrawEvent(invocationId)] });
      return { kind: 'withdrawn' };
    }
  }

  #stopWaiting(): void {
    this.#wait?.stop();
    this.#wait = undefined;
  }

  /** Answers the messages before this one, whose processes seem to have died. Each gets a turn of its own. */
  async #runAbandoned(entry?: QueueEntry): Promise<boolean> {
    const { env, request } = this;
    const session = await env.sessions.getSession({ ...request.key, config: { numRecentEvents: 0 } });
    const others = new Set(session && queuedIn(session));
    others.delete(request.invocationId);
    const queue = await readQueue(env, request.key, others);
    const [first] = inQueueOrder(entry ? [...queue, entry] : queue);
    if (!first || first === entry) return false;
    const work = this.#answerAbandoned(first);
    this.process.keep(work);
    // Who stops this request does not stop the message of another one.
    await untilAborted(work, this.signal);
    return true;
  }

  async #answerAbandoned(first: QueueEntry): Promise<void> {
    const { env, request, handler, process } = this;
    const { invocationId, message, policy, stateDelta, customMetadata, rewindTo } = first;
    const asked = { invocationId, message, policy, stateDelta, customMetadata, rewindTo };
    const abandoned = { ...request, ...asked, entry: first };
    // Its caller, if there is one, follows the log. A failing handler left a clean log.
    try {
      await this.#try(first, new TurnWork(env, abandoned, handler, () => undefined, process.closing));
      this.#failed = undefined;
    } catch (error) {
      const times = this.#failed?.invocationId === invocationId ? this.#failed.times : 0;
      this.#failed = { invocationId, times: times + 1, error };
      env.onError(error);
    }
  }

  /** The result of an earlier request with the same id, which is running or done. */
  async #followEarlier(held: TurnHeldError): Promise<RunResult | undefined> {
    const { request, env } = this;
    if (!request.mayBeRetry) return undefined;
    const { message, lastSeq } = await findMessage(env.sessions, request.key, request.invocationId);
    if (!message && invocationOf(held.holder) !== request.invocationId) return undefined;
    return this.#follow(message?.invocationId ?? request.invocationId, message?.seq ?? lastSeq);
  }

  /** Undefined if the process that took the message died before the answer, so that it is this one's turn. */
  async #followTaken({ invocationId, seq }: LoggedEvent): Promise<RunResult | undefined> {
    return this.#follow(invocationId, seq);
  }

  async #follow(invocationId: string, afterSeq: number): Promise<RunResult | undefined> {
    const { env, request, signal } = this;
    const followed = { key: request.key, invocationId, afterSeq, agentName: request.agentName };
    const { events, isClosed } = await follow(env, followed, this.tell, signal);
    if (!isClosed && !signal.aborted && invocationId === request.invocationId) return undefined;
    const status = isClosed ? statusOf(events) : signal.aborted ? 'stopped' : 'interrupted';
    return { status, invocationId, events, session: await this.#load() };
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

  async #stoppedResult(): Promise<RunResult> {
    return { status: 'stopped', invocationId: this.request.invocationId, events: [], session: await this.#load() };
  }

  async #load(): Promise<Session> {
    const { key, config } = this.request;
    const session = await this.env.sessions.getSession({ ...key, config });
    if (!session) throw new SessionNotFoundError(key.sessionId);
    return session;
  }
}

/** Waits for the work, or until the signal aborts. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const settled = new AbortController();
  try {
    await Promise.race([work, once(signal, 'abort', { signal: settled.signal })]);
  } finally {
    settled.abort();
  }
}

const TRY = { kind: 'try' } as const;
/** After as many failures of the message before it, a request with the policy `reject` fails as well. */
const MAX_FAILURES = 3;
