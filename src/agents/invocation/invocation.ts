import type { EventInput, LoggedEvent } from '../../sessions/domain/event/event.js';
import type { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { leaveToOthers } from '../../sessions/domain/process/event-loop-turn.js';
import type { Session } from '../../sessions/domain/session/session.js';
import { isByUser } from '../../sessions/domain/event/event-inspection.js';
import { AgentContext } from './agent-context.js';
import { type AgentFailedError, toAgentFailedError } from '../errors/agent-failed-error.js';
import { readable } from '../errors/thrown.js';
import type { RunEvents } from '../turn/run-events.js';
import { AgentsClosingError } from '../errors/closing-error.js';
import { approvalEvents, hasApprovals, isAskedBy, waitingEvent, withoutApprovals } from './approval-requests.js';
import { EarlyAnswers, type HandlerIterator, authoredEvent, eventFrom, iteratorOf, nextOf } from './handler-events.js';
import { InvocationApprovals } from './invocation-approvals.js';
import { InvocationMessages, type InvocationStart } from './invocation-messages.js';
import { InvocationStop, untilAborted } from '../turn/turn-news.js';
import { type Interruption, InvocationEnd, KEPT_AT_THE_END } from './invocation-end.js';
import { type OutputRule, reportedOutput, withOutput } from './output-key.js';
import { RunBudget } from './run-budget.js';
import type { RunHandler } from './agent-context.js';
import type { RunStatus } from './run-status.js';
import { ApprovalPending } from './tool-context.js';
import { DoneTools } from './tool-run.js';
import { type TurnLog, isRefusal } from '../turn/turn-log.js';
import { withUniqueCallIds } from './unique-call-ids.js';

/** Runs a handler in a held turn, and stores what it yields. */
export class Invocation {
  readonly invocationId: string;
  readonly agentName: string;
  readonly isResumed: boolean;
  readonly done = new DoneTools();
  readonly #output: OutputRule | undefined;
  readonly messages: InvocationMessages;
  readonly #stored: LoggedEvent[];
  readonly end: InvocationEnd;
  readonly approvals: InvocationApprovals;
  #early: EarlyAnswers | undefined;
  #isTaking = false;
  readonly #budget = new RunBudget();

  constructor(
    start: InvocationStart,
    readonly log: TurnLog,
    /** Gets what readers of the run see. */
    private readonly shown: RunEvents,
  ) {
    this.invocationId = start.invocationId;
    this.agentName = start.agentName;
    this.isResumed = start.isResumed;
    this.#output = start.output && reportedOutput(start.output, log);
    this.messages = new InvocationMessages(start, log);
    this.end = new InvocationEnd(start.agentName, start.earlier);
    this.#stored = [...start.shown];
    if (start.isResumed) this.end.reopen();
    this.approvals = new InvocationApprovals(start, log, this.end);
  }

  get session(): Session {
    return this.log.session;
  }

  get signal(): AbortSignal {
    return this.log.signal;
  }

  /** The stored events, in order, without messages. */
  get events(): readonly LoggedEvent[] {
    return this.#stored;
  }

  /** Events of the invocation that were stored for its beginning. */
  adopt(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      this.end.add(event);
      this.approvals.add(event);
      this.messages.adopt(event);
      if (isByUser(event)) continue;
      this.#stored.push(event);
      this.shown.add(event);
    }
  }

  /** Ends the invocation soon, with a clean log. A handler that may just have said everything can return, and is not handed over. */
  stop(why: InvocationStop['why']): void {
    this.log.news.stop(why, why === 'handed over' && (this.end.isClosed || this.#isTaking));
  }

  /** Runs the handler to its end. In every case the turn ends with a clean log, unless it was lost. */
  async run(handler: RunHandler): Promise<RunStatus> {
    if (this.isResumed) this.#early = new EarlyAnswers(handler, this.end.openCalls, this.log);
    const events = iteratorOf(() => handler(new AgentContext(this)));
    try {
      for (;;) {
        const { done, value } = await this.#next(events);
        if (done === true) {
          await this.#finish(value ?? undefined);
          return 'completed';
        }
        this.#isTaking = true;
        await this.#take(value);
        this.#isTaking = false;
        await leaveToOthers();
      }
    } catch (error) {
      // A handler that ignores the signal may go on, but nothing that it yields is stored.
      void events.return?.()?.catch(() => undefined);
      return this.#afterError(readable(error));
    } finally {
      this.log.news.end();
    }
  }

  /** Ends the turn after an error, which may be the wish to stop or to wait. */
  async #afterError(error: unknown): Promise<RunStatus> {
    if (error instanceof AgentsClosingError && this.log.env.draining.aborted) this.stop('handed over');
    const { reason } = this.log.news.signal;
    if (reason instanceof InvocationStop) {
      if (reason.why === 'handed over') return this.#handOver();
      await this.#close(reason.why);
      return reason.why;
    }
    const { refusal } = this.approvals;
    if (this.signal.aborted || !(refusal || error instanceof ApprovalPending)) return this.#fail(error);
    // Other agents may still run tools, which nobody may run again.
    await untilAborted(this.done.settled(), this.signal);
    if (this.signal.aborted) return this.#afterError(error);
    if (refusal) return this.#refuse(refusal);
    try {
      await this.#suspend();
      return 'waiting';
    } catch (problem) {
      return this.log.news.signal.reason instanceof InvocationStop ? this.#afterError(problem) : this.#fail(problem);
    }
  }

  async #fail(error: unknown): Promise<never> {
    // A lost turn can write nothing.
    this.signal.throwIfAborted();
    const { log, invocationId, agentName } = this;
    const cause = log.causeOf(error);
    const failure = toAgentFailedError(error, { ...log.key, invocationId, agentName });
    const isClosed = await this.#close('failed', failure).then(
      () => true,
      () => false,
    );
    // A repeated request goes on if the log stays open.
    if (cause === 'budget' || (cause === 'store' && !isClosed)) throw error;
    log.env.onRunFailure(failure);
    throw failure;
  }

  async #next(events: HandlerIterator): Promise<IteratorResult<EventInput, EventInput | void>> {
    const result = await nextOf(events, this.signal);
    // Also if the handler caught it.
    if (this.approvals.refusal) throw this.approvals.refusal;
    return result;
  }

  async #take(event: EventInput): Promise<void> {
    const stamped = this.#stamped(eventFrom('handler', 'yield', event));
    this.#early?.check(stamped, this.end.openCalls);
    if (stamped.partial !== true) {
      const whole = this.end.withUsage(stamped);
      await this.#append([whole]);
      if (this.#budget.decidesAfter(whole)) await this.log.checkBudget();
      return;
    }
    // It is not in the log; its text is kept if no final event follows.
    this.end.add(stamped);
    const { id, ...place } = this.log.say(stamped);
    this.shown.add({
      ...stamped,
      ...(stamped.id === undefined && id !== undefined && { id }),
      ...place,
      partial: true,
    });
  }

  /** A final response ends the turn by itself; otherwise an event says that nothing follows. */
  async #finish(last: EventInput | undefined): Promise<void> {
    if (last !== undefined) eventFrom('handler', 'return', last);
    if (last?.partial === true) await this.#take(last);
    await this.approvals.storeUnread();
    this.approvals.noteUnasked();
    const closing: EventInput[] = [];
    const end = this.end.copy();
    const add = (...events: readonly EventInput[]): void => {
      for (const event of events) end.add(event);
      closing.push(...events);
    };
    if (last && last.partial !== true) {
      const ending = end.withUsage(this.#stamped(last));
      this.#early?.check(ending, this.end.openCalls);
      add(ending);
    }
    const said = this.#said(end);
    add(...end.responses(this.invocationId, 'The agent ended without a response of this tool.'), ...said);
    const hasPending = hasApprovals(this.session, isAskedBy(this.invocationId));
    const mustCommit = this.log.hasPendingState || this.log.hasUncompleted;
    if (!end.isClosed || hasPending || (closing.length === 0 && mustCommit)) {
      add({ invocationId: this.invocationId, author: this.agentName, turnComplete: true });
    }
    if (closing.length > 0) await this.#append(this.#withoutApprovals(closing), { endsTurn: true });
  }

  /** What was said in partial events only is an answer all the same. */
  #said(end = this.end): EventInput[] {
    return end.said(this.invocationId).map((event) => this.#stamped(event));
  }

  /** Nobody can answer approvals of an invocation that has ended. */
  #withoutApprovals(ends: readonly EventInput[]): EventInput[] {
    return withoutApprovals(ends, this.session, isAskedBy(this.invocationId));
  }

  /** Ends the turn until the approvals are answered. */
  async #suspend(): Promise<void> {
    await this.approvals.storeUnread();
    const { invocationId, agentName, session } = this;
    const run = { sessionId: session.id, invocationId, agentName, messageSeq: this.messages.seq };
    const asking = approvalEvents(this.approvals.asked, run);
    const ends = asking.length > 0 ? asking : [waitingEvent()];
    const events = [...this.#said(), ...this.#responses(), ...ends.map((event) => this.#stamped(event))];
    await this.#append(events, { endsTurn: true });
  }

  /** What tools have done since the last event. */
  #responses(): EventInput[] {
    return this.done.responses(this.end.openCalls).map((event) => this.#stamped(event));
  }

  /**
   * Ends the turn, and leaves the invocation to another process. What tools have done stays done; what was said in part is said
   * anew, and state that no event has is set anew.
   */
  async #handOver(): Promise<never> {
    const { unread } = this.approvals;
    const done = this.#responses();
    const hasNews = done.length > 0 || this.#said().length > 0;
    // An answer to an approval that nobody has read is given again.
    if (!unread || hasNews || !this.end.isWaiting) {
      await this.log.leave([...done, this.messages.handOver(this.session.id, this.agentName)]);
    }
    throw new AgentsClosingError(this.invocationId);
  }

  /** Ends the turn because of an answer that does not fit: the approval waits for another one. */
  async #refuse(refusal: InvalidInputError): Promise<never> {
    const done = [...this.#said(), ...this.#responses()];
    if (done.length > 0 || !this.end.isWaiting || this.log.hasUncompleted) {
      await this.#append([...done, this.#stamped(waitingEvent())], { endsTurn: true });
    }
    throw refusal;
  }

  /** State, text or responses that cannot be stored must not keep the log from being closed. */
  async #close(why: Interruption, failure?: AgentFailedError): Promise<void> {
    await this.approvals.storeUnread().catch((error: unknown) => {
      if (this.approvals.unread) throw error;
    });
    const done = this.#responses();
    for (const { withState, withText, withDone } of KEPT_AT_THE_END) {
      const end = this.end.copy();
      const responses = withDone ? done : [];
      for (const event of responses) end.add(event);
      const closing = [...responses, ...end.closing(this.invocationId, why, { withText, failure })];
      try {
        return await this.#append(this.#withoutApprovals(closing), { endsTurn: true, withState });
      } catch (error) {
        if (!isRefusal(error) || !(withState || withText || withDone)) throw error;
      }
    }
  }

  async #append(events: readonly EventInput[], options: Parameters<TurnLog['append']>[1] = {}): Promise<void> {
    const stored = await this.log.append(events, options);
    for (const event of stored) {
      this.end.add(event);
      this.approvals.add(event);
      this.#stored.push(event);
      this.shown.add(event);
    }
    this.done.keepOnly(this.end.openCalls);
  }

  #stamped(event: EventInput): EventInput {
    const authored = authoredEvent(event, this.agentName, { invocationId: this.invocationId });
    const open = this.end.openCalls.map(({ call }) => call);
    const stamped = withUniqueCallIds(authored, open, this.log.env.newId);
    return this.#output ? withOutput(stamped, this.#output) : stamped;
  }
}
