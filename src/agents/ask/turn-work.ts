import { EventConflictError, SessionNotFoundError } from '../../sessions/domain/errors/errors.js';
import { isInRanges } from '../../sessions/domain/values/seq-ranges.js';
import type { EventInput, LoggedEvent } from '../../sessions/domain/event/event.js';
import type { Session } from '../../sessions/domain/session/session.js';
import type { HeldTurn } from '../../sessions/operations/turns.js';
import type { AgentEnvironment } from '../turn/agent-environment.js';
import { AgentsClosingError } from '../errors/closing-error.js';
import type { RunEvents } from '../turn/run-events.js';
import {
  type TakenMessage,
  discardsOf,
  isOfAnswer,
  messageEvent,
  messageIdOf,
  invocationOfMessage,
  queuedIn,
  stopRequestOf,
  dequeuedEvent,
  withdrawEvent,
} from '../turn/control-events.js';
import {
  type DueRun,
  RepeatedMessage,
  isSameContent,
  isWithdrawn,
  readTurnMessages,
  mustWaitFor,
  repeatedAt,
  waitingMessages,
  wasWithdrawn,
  wholeDue,
} from './due-run.js';
import { failureIn } from '../errors/failure-reason.js';
import { InvocationEnd, interruptedResponses } from '../invocation/invocation-end.js';
import { lastInvocation } from '../invocation/last-invocation.js';
import { Invocation } from '../invocation/invocation.js';
import type { InvocationStart } from '../invocation/invocation-messages.js';
import { InvocationStop, isHandOver } from '../turn/turn-news.js';
import { untilNotOvertaken, withdrawApprovals } from '../invocation/withdrawn-approvals.js';
import { type Continuation, answeredApproval, refuseIfGone } from './answer-approval.js';
import { DeadRunRepairs } from './dead-run-repairs.js';
import type { QueuePlace } from '../turn/queue-place.js';
import { findMessage } from './queue.js';
import { BudgetHold } from '../invocation/run-budget.js';
import { type GivenAnswer, type RunResult, assertPlaceIn } from './run-request.js';
import type { RunHandler } from '../invocation/agent-context.js';
import { findEnd } from '../invocation/run-status.js';
import { storedInvocation } from '../turn/stored-invocation.js';
import { TurnLog, isPassing } from '../turn/turn-log.js';

/** Others are before it. */
export interface GaveWay {
  readonly queue: readonly QueuePlace[];
}

/** What the invocation of a message does in its turn: repairs the log, takes the message, runs the handler. */
export class TurnWork {
  readonly #repairs: DeadRunRepairs;
  /** Where its process left it unfinished, if it handed it over. */
  #handedOver: QueuePlace | undefined;

  constructor(
    private readonly env: AgentEnvironment,
    private due: DueRun,
    private readonly handler: RunHandler,
    private readonly shown: RunEvents,
    private readonly signal: AbortSignal,
  ) {
    this.#repairs = new DeadRunRepairs(env, due);
  }

  get invocationId(): string {
    return this.due.invocationId;
  }

  /** @param created the session, if it was created for this run */
  async run(turn: HeldTurn, created: Session | undefined): Promise<RunResult | GaveWay> {
    const { env } = this;
    let { due } = this;
    const loaded = created ?? (await env.sessions.getSession({ ...due.key, config: due.config }));
    if (!loaded) throw new SessionNotFoundError(due.key.sessionId);
    const waiting = await waitingMessages(env, due, loaded, turn);
    const own = waiting.find(({ invocationId }) => invocationId === due.invocationId);
    if (own?.handedOver) this.#handedOver = own;
    const queue = waiting.filter((entry) => entry !== own);
    const begunSeq = due.retriesFailure ? await this.#messageSeq() : undefined;
    const goesOn = due.answer !== undefined || begunSeq !== undefined;
    if (!goesOn && (await this.#isTakenBack(loaded))) {
      return this.#notAnswered(loaded);
    }
    if (mustWaitFor({ ...due, entry: this.#handedOver ?? due.entry }, queue, goesOn)) return { queue };
    if (due.answer) return this.#answered(turn, loaded, due.answer);
    if (begunSeq !== undefined) return this.#goOn(turn, loaded, begunSeq);
    const whole = await wholeDue(env, due);
    if (!whole) return this.#trimmed(turn, loaded);
    this.due = due = whole;
    const entry = due.entry ?? own;
    const session = await this.#rewound(loaded, turn, entry);
    const messages = await readTurnMessages(env, { ...due, entry }, queue);
    const earlier = session.events.find(({ id }) => id === messageIdOf(due.invocationId));
    const messageSeq = earlier?.seq ?? own?.handedOver?.messageSeq;
    return messageSeq === undefined ? this.#beginOnce(turn, session, messages) : this.#goOn(turn, session, messageSeq);
  }

  /** What it brings was trimmed with its history: it is lost, and leaves the queue. */
  async #trimmed(turn: HeldTurn, session: Session): Promise<RunResult> {
    await this.env.sessions.appendEvents({ session, events: [dequeuedEvent([this.due.invocationId])], turn });
    return this.#notAnswered(session);
  }

  #notAnswered(session: Session): RunResult {
    return { status: 'stopped', invocationId: this.due.invocationId, events: [], session };
  }

  /** Whether somebody took the message back while it waited. */
  async #isTakenBack(session: Session): Promise<boolean> {
    const { env, due } = this;
    if (due.entry) return isWithdrawn(env, due, session);
    return due.mayBeRetry && wasWithdrawn(due, await this.#repairs.newestEvents(session));
  }

  /** A message that was stored before goes on, and one that the store refuses does not stay in the queue. */
  async #beginOnce(turn: HeldTurn, session: Session, messages: readonly TakenMessage[]): Promise<RunResult> {
    const { env, due } = this;
    try {
      return await this.#begin(turn, session, messages);
    } catch (error) {
      const seq = repeatedAt(error, due.invocationId);
      if (seq !== undefined) return this.#goOn(turn, session, seq);
      const isLater = isPassing(error) || error instanceof AgentsClosingError;
      const isRefused = !isLater && queuedIn(session).has(due.invocationId);
      if (!isRefused) throw error;
      const own = messages.filter(({ invocationId }) => invocationId === due.invocationId);
      // Another one of the messages may be what the store refuses. It gets a turn of its own.
      if (own.length < messages.length) return this.#beginOnce(turn, session, own);
      // Otherwise it would be before all others forever.
      await env.sessions.appendEvents({ session, events: [withdrawEvent(due.invocationId)], turn });
      throw error;
    }
  }

  /** Rewinds what this message replaces. */
  async #rewound(session: Session, turn: HeldTurn, entry: QueuePlace | undefined): Promise<Session> {
    const { key, config, rewindTo } = this.due;
    const toSeq = rewindTo === undefined ? await this.#replacedAfter(entry, session) : await this.#keptUpTo(rewindTo);
    if (toSeq === undefined) return session;
    if (rewindTo !== undefined) assertPlaceIn(session, rewindTo);
    if (toSeq >= session.version) return session;
    const rewound = await this.env.sessions.rewindSession({ ...key, toSeq, turn });
    if (config === undefined) return rewound;
    // A rewind returns the whole view.
    const narrowed = await this.env.sessions.getSession({ ...key, config });
    if (!narrowed) throw new SessionNotFoundError(key.sessionId);
    return narrowed;
  }

  /** A message with `rollback` replaces the invocation that it interrupted, unless another one followed. */
  async #replacedAfter(entry: QueuePlace | undefined, session: Session): Promise<number | undefined> {
    if (entry?.policy !== 'rollback' || entry.target === undefined) return undefined;
    const events = await this.#repairs.newestEvents(session);
    const last = lastInvocation(events);
    const first = events.find(
      (event) => invocationOfMessage(event) !== undefined && event.invocationId === entry.target,
    );
    return last?.invocationId === entry.target && first ? first.seq - 1 : undefined;
  }

  /** Nothing is rewound for a message that was stored before. */
  async #keptUpTo(toSeq: number): Promise<number | undefined> {
    return (await this.#messageSeq()) === undefined ? toSeq : undefined;
  }

  async #messageSeq(): Promise<number | undefined> {
    const { message } = await findMessage(this.env.sessions, this.due.key, this.due.invocationId);
    return message?.seq;
  }

  async #begin(turn: HeldTurn, session: Session, messages: readonly TakenMessage[]): Promise<RunResult> {
    const { agentName, invocationId, output, hasBudget, key } = this.due;
    // Those before it may have used the budget up while it waited.
    const budget = new BudgetHold(this.env);
    if (!hasBudget) await budget.reserveInTurn(key, this.signal);
    try {
      const start = { invocationId, agentName, output, messages, isResumed: false, earlier: [], shown: [] };
      const opening = [
        ...(await this.#repairs.repairs(session, turn)),
        ...messages.map((taken) => messageEvent(taken, invocationId)),
      ];
      return await this.#carryOut(turn, session, start, opening);
    } finally {
      await budget.giveBack();
    }
  }

  /** Goes on where the invocation asked, with the answer. */
  async #answered(turn: HeldTurn, session: Session, answer: GivenAnswer): Promise<RunResult> {
    const { messageSeq, tooLate, ...continuation } = await answeredApproval(this.env, this.due, session, answer);
    const result = await this.#goOn(turn, session, messageSeq, continuation);
    if (tooLate) throw tooLate;
    return result;
  }

  /** The request is repeated, or an approval is answered: returns what was stored, or goes on where the process died. */
  async #goOn(
    turn: HeldTurn,
    session: Session,
    messageSeq: number,
    { afterSeq, given, agentName = this.#handedOver?.handedOver?.agentName ?? this.due.agentName }: Continuation = {},
  ): Promise<RunResult> {
    const { env, due } = this;
    const { invocationId, message } = due;
    const output = due.output && { ...due.output, author: agentName };
    const found = await storedInvocation(env, due.key, messageSeq);
    const { message: stored, events: earlier } = found;
    if (given && due.answer) await refuseIfGone(env, turn, session, due.answer, found);
    if (queuedIn(session).has(invocationId)) {
      await env.sessions.appendEvents({ session, events: [dequeuedEvent([invocationId])], turn });
    }
    const isOwn = stored?.id === messageIdOf(invocationId) && !due.answer;
    if (isOwn && !isSameContent(stored, message)) throw new EventConflictError(stored.id, stored.seq);
    if (!due.answer && isInRanges(messageSeq, found.rewound)) {
      return { status: 'interrupted', invocationId: stored?.invocationId ?? invocationId, events: [], session };
    }
    // Of an answered approval, the caller gets what follows the answer.
    const shown = given ? [] : earlier.filter((event) => event.seq > (afterSeq ?? 0) && isOfAnswer(event));
    for (const event of shown) this.shown.add(event);
    const end = new InvocationEnd(this.due.agentName, earlier);
    if (stored && stored.invocationId !== invocationId) {
      // Another invocation took the message, and its turn is over.
      const status = end.isClosed ? findEnd(shown, stored.invocationId, { ...due, agentName }) : 'interrupted';
      return { status, invocationId: stored.invocationId, events: shown, session };
    }
    const mayHaveDied = !given && (turn.takesOver || !end.isClosed);
    const said = mayHaveDied ? await this.#repairs.said(session) : [];
    // After the final event of one agent, another one may have spoken when the process died or closed.
    const left = this.#handedOver;
    const isHandedOver = left !== undefined && earlier.every(({ seq }) => seq < left.seq);
    const isRetried = due.retriesFailure && failureIn(shown.at(-1) ?? {}) !== undefined;
    const goesOn = given !== undefined || isHandedOver || isRetried;
    if (!goesOn && end.isClosed && !said.some((event) => event.invocationId === invocationId)) {
      return { status: findEnd(shown, invocationId, { ...due, agentName }), invocationId, events: shown, session };
    }
    const messages = [{ invocationId, message: stored?.content ?? message, isQueued: false }];
    const start = { invocationId, agentName, output, messages, messageSeq, isResumed: true, earlier, shown, given };
    if (isRetried) await env.sessions.checkBudget(due.key);
    const opening = given || isRetried ? await this.#repairs.repairs(session, turn) : discardsOf(said);
    const responses = interruptedResponses(invocationId, earlier, end, session);
    return this.#carryOut(turn, session, start, [...opening, ...responses]);
  }

  /** A stop may have come while the invocation asked, so that its turn did not learn of it. */
  async #isWithdrawn(log: TurnLog, { signal, invocationId }: Invocation): Promise<boolean> {
    await log.caughtUp();
    const { reason } = signal as { readonly reason: unknown };
    if (!(reason instanceof InvocationStop && reason.why === 'stopped')) return false;
    return untilNotOvertaken(() => withdrawApprovals(this.env, this.due.key, invocationId));
  }

  async #carryOut(
    turn: HeldTurn,
    session: Session,
    start: InvocationStart,
    opening: readonly EventInput[],
  ): Promise<RunResult> {
    const log = new TurnLog(this.env, session, turn, start.invocationId);
    const invocation = new Invocation(start, log, this.shown);
    const { signal } = this;
    const stop = (): void => invocation.stop(isHandOver(signal) ? 'handed over' : 'stopped');
    log.removeWithNextCommit(this.#repairs.messageIds);
    try {
      const version = session.version;
      // Without a commit, nothing is removed yet.
      const stored = opening.length > 0 ? await log.append(opening) : [];
      if (stored.some(({ seq }) => seq <= version)) throw new RepeatedMessage(stored.at(-1)?.seq ?? 0);
      invocation.adopt(stored.filter((event) => event.invocationId === start.invocationId));
      log.follow();
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
      // Somebody may have stopped it when its process handed it over.
      if (this.#handedOver && isStopped(await this.#repairs.newestEvents(session), start.invocationId)) {
        invocation.stop('stopped');
      }
      const ended = await invocation.run(this.handler);
      const status = ended === 'waiting' && (await this.#isWithdrawn(log, invocation)) ? 'stopped' : ended;
      return { status, invocationId: start.invocationId, events: invocation.events, session };
    } finally {
      signal.removeEventListener('abort', stop);
      log.stop();
    }
  }
}

function isStopped(events: readonly LoggedEvent[], invocationId: string): boolean {
  return events.some((event) => stopRequestOf(event)?.invocationId === invocationId);
}
