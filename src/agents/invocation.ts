import {
  type Content,
  type EventInput,
  type FunctionCall,
  type LoggedEvent,
  keepFilledInTimestamp,
} from '../sessions/domain/event.js';
import { InvalidInputError, LimitExceededError, TurnLostError } from '../sessions/domain/errors.js';
import type { Session } from '../sessions/domain/session.js';
import { isByUser, isRewind } from '../sessions/domain/event-inspection.js';
import { AgentContext } from './agent-context.js';
import type { RunEvent } from './agent-run.js';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  approvalEvent,
  approvalMarksIn,
  isAskedBy,
  waitingEvent,
  withoutApprovals,
} from './approvals.js';
import {
  type QueueEntry,
  isInterrupting,
  messageEvent,
  messageOf,
  queueEntryOf,
  stopRequestOf,
  withdrawnBy,
} from './control-events.js';
import { type HandlerIterator, assertIsEvent, iteratorOf, nextOf } from './handler-events.js';
import { InvocationApprovals } from './invocation-approvals.js';
import type { InvocationStart } from './invocation-start.js';
import { type Interruption, InvocationTail } from './invocation-tail.js';
import { type OutputRule, withOutput } from './output-key.js';
import type { RunHandler, RunStatus } from './run-request.js';
import { ApprovalPending } from './tool-context.js';
import type { TurnLog } from './turn-log.js';

/** Why an invocation is to end. The reason of its signal. */
export class InvocationStop extends Error {
  constructor(readonly why: Extract<Interruption, 'stopped' | 'interrupted'>) {
    super(why === 'stopped' ? 'The run was stopped' : 'The run was interrupted by a new message');
    this.name = 'AbortError';
  }
}

/** Runs a handler in a held turn, and stores what it yields. */
export class Invocation {
  readonly invocationId: string;
  readonly agentName: string;
  readonly isResumed: boolean;
  readonly signal: AbortSignal;
  readonly #output: OutputRule | undefined;
  readonly #messages: Content[];
  #messageSeq: number;
  readonly #stored: LoggedEvent[];
  readonly #tail: InvocationTail;
  readonly #waiting: QueueEntry[] = [];
  readonly #stopping = new AbortController();
  readonly #approvals: InvocationApprovals;
  /** Responses of tools that the handler has not yielded yet. */
  #done: () => readonly EventInput[] = () => [];
  /** Whether this run of the handler has stored an event. */
  #hasStored = false;

  /** @param turnSignal aborts when the turn is lost */
  constructor(
    start: InvocationStart,
    private readonly log: TurnLog,
    private readonly tell: (event: RunEvent) => void,
    turnSignal: AbortSignal,
  ) {
    this.invocationId = start.invocationId;
    this.agentName = start.agentName;
    this.isResumed = start.isResumed;
    this.#output = start.output;
    this.#messages = start.messages.map(({ message }) => message);
    this.#tail = new InvocationTail(start.agentName);
    this.#stored = [...start.shown];
    for (const event of start.earlier) this.#tail.add(event);
    this.#approvals = new InvocationApprovals(start.invocationId, (answer) => this.#storeAnswer(answer), start.given);
    for (const event of start.earlier) this.#approvals.add(event);
    this.#messageSeq = start.messageSeq ?? 0;
    this.signal = AbortSignal.any([turnSignal, this.#stopping.signal]);
  }

  get session(): Session {
    return this.log.session;
  }

  get messages(): readonly Content[] {
    return this.#messages;
  }

  get openCalls() {
    return this.#tail.openCalls;
  }

  /** The stored events, in order, without messages. */
  get events(): readonly LoggedEvent[] {
    return this.#stored;
  }

  /** Events of the invocation that were stored for its beginning. */
  adopt(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      this.#tail.add(event);
      this.#approvals.add(event);
      if (messageOf(event) !== undefined) this.#messageSeq ||= event.seq;
      if (isByUser(event)) continue;
      this.#stored.push(event);
      this.tell(event);
    }
  }

  /** Ends the invocation soon, with a clean log. */
  stop(why: InvocationStop['why']): void {
    this.#stopping.abort(new InvocationStop(why));
  }

  /** An event that somebody else appended. */
  notice(event: LoggedEvent): void {
    // It has ended the turn, so nothing more can be stored.
    if (isRewind(event)) this.#stopping.abort(new TurnLostError(this.session.id));
    if (stopRequestOf(event)?.invocationId === this.invocationId) this.stop('stopped');
    const withdrawn = withdrawnBy(event);
    if (withdrawn === this.invocationId) this.stop('stopped');
    const place = this.#waiting.findIndex(({ invocationId }) => invocationId === withdrawn);
    if (place >= 0) this.#waiting.splice(place, 1);
    const entry = queueEntryOf(event);
    if (!entry) return;
    if (isInterrupting(entry.policy)) this.stop('interrupted');
    if (entry.policy === 'merge') this.#waiting.push(entry);
  }

  async takeMessages(): Promise<readonly Content[]> {
    const entries = this.#waiting.splice(0);
    if (entries.length === 0) return [];
    try {
      await this.log.append(entries.map((entry) => messageEvent({ ...entry, isQueued: true }, this.invocationId)));
    } catch (error) {
      // They get turns of their own, where what the store refuses leaves the queue.
      if (isRefusal(error)) return [];
      throw error;
    }
    const messages = entries.map(({ message }) => message);
    this.#messages.push(...messages);
    return messages;
  }

  keepDone(done: () => readonly EventInput[]): void {
    this.#done = done;
  }

  async requestApproval<Payload>(
    request: ApprovalRequest<Payload>,
    call?: FunctionCall,
  ): Promise<ApprovalAnswer<Payload>> {
    return this.#approvals.request(request, call, call && this.#tail.numberOf(call));
  }

  /** Runs the handler to its end. In every case the turn ends with a clean log, unless it was lost. */
  async run(handler: RunHandler): Promise<RunStatus> {
    const events = iteratorOf(handler, new AgentContext(this));
    try {
      for (;;) {
        const { done, value } = await this.#next(events);
        if (done === true) {
          await this.#finish(value ?? undefined);
          return 'completed';
        }
        await this.#take(value);
      }
    } catch (error) {
      // A handler that ignores the signal may go on, but nothing that it yields is stored.
      void events.return?.()?.catch(() => undefined);
      return this.#end(error);
    }
  }

  /** Ends the turn after an error, which may be the wish to stop or to wait. */
  async #end(error: unknown): Promise<RunStatus> {
    const { reason } = this.#stopping.signal;
    if (reason instanceof InvocationStop) {
      await this.#close(reason.why);
      return reason.why;
    }
    if (this.#approvals.refusal && !this.signal.aborted) {
      return this.#refuse(this.#approvals.refusal, error);
    }
    if (!(error instanceof ApprovalPending)) return this.#fail(error);
    try {
      await this.#suspend(error.before);
      return 'waiting';
    } catch (refusal) {
      return this.#fail(refusal);
    }
  }

  async #fail(error: unknown): Promise<never> {
    // A lost turn can write nothing.
    if (!this.signal.aborted) await this.#close('failed').catch(() => undefined);
    throw error;
  }

  async #next(events: HandlerIterator): Promise<IteratorResult<EventInput, EventInput | void>> {
    const result = await nextOf(events, this.signal);
    // Also if the handler caught it.
    if (this.#approvals.refusal) throw this.#approvals.refusal;
    return result;
  }

  async #take(event: EventInput): Promise<void> {
    assertIsEvent(event, 'yield');
    const stamped = this.#stamped(event);
    if (stamped.partial !== true) {
      await this.#append([stamped]);
      return;
    }
    // It is not in the log; its text is kept if no final event follows.
    this.#tail.add(stamped);
    const id = this.log.say(stamped);
    this.tell({ ...stamped, ...(stamped.id === undefined && id !== undefined && { id }), partial: true });
  }

  /** A final response ends the turn by itself; otherwise an event says that nothing follows. */
  async #finish(last: EventInput | undefined): Promise<void> {
    await this.#storeUnread();
    const ends: EventInput[] = [];
    const tail = this.#tail.copy();
    const add = (...events: readonly EventInput[]): void => {
      for (const event of events) tail.add(event);
      ends.push(...events);
    };
    if (last !== undefined) assertIsEvent(last, 'return');
    if (last && last.partial !== true) add(this.#stamped(last));
    add(...tail.responses(this.invocationId, 'The agent ended without a response of this tool.'));
    const { id, metadata } = this.session;
    const hasPending = [...approvalMarksIn(id, metadata).values()].some(
      (mark) => mark.invocationId === this.invocationId,
    );
    const mustCommit = this.log.hasPendingState || this.log.hasUncompleted;
    if (!tail.isClosed || hasPending || (ends.length === 0 && mustCommit)) {
      add({ invocationId: this.invocationId, author: this.agentName, turnComplete: true });
    }
    if (ends.length > 0) await this.#append(this.#withoutApprovals(ends), { endsTurn: true });
  }

  /** Nobody can answer approvals of an invocation that has ended. */
  #withoutApprovals(ends: readonly EventInput[]): EventInput[] {
    return withoutApprovals(ends, this.session, isAskedBy(this.invocationId));
  }

  /** Ends the turn until the approvals are answered. */
  async #suspend(before: readonly EventInput[]): Promise<void> {
    await this.#storeUnread();
    const { invocationId, agentName, session } = this;
    const asked = this.#approvals.asked;
    const mark = { sessionId: session.id, invocationId, agentName, messageSeq: this.#messageSeq };
    const last = asked.length > 0 ? approvalEvent(asked, mark) : waitingEvent();
    await this.#append(
      [...before, last].map((event) => this.#stamped(event)),
      { endsTurn: true },
    );
  }

  /** Ends the turn because of an answer that does not fit: the approval waits for another one. */
  async #refuse(refusal: InvalidInputError, error: unknown): Promise<never> {
    const responses = error instanceof ApprovalPending ? error.before : this.#done();
    const done = responses.map((event) => this.#stamped(event));
    if (done.length > 0 || this.#hasStored || this.log.hasUncompleted) {
      await this.#append([...done, this.#stamped(waitingEvent())], { endsTurn: true });
    }
    throw refusal;
  }

  async #storeAnswer(answer: EventInput): Promise<void> {
    for (const event of await this.log.append([answer], { withState: false })) {
      this.#tail.add(event);
      this.#approvals.add(event);
    }
  }

  /** The handler did not ask for the answer that it was given. It is answered all the same. */
  async #storeUnread(): Promise<void> {
    const { unread } = this.#approvals;
    if (unread) await this.#storeAnswer(unread);
  }

  /** State, text or responses that cannot be stored must not keep the log from being closed. */
  async #close(why: Interruption): Promise<void> {
    await this.#storeUnread();
    const done = this.#done().map((event) => this.#stamped(event));
    for (const { withState, withText, withDone } of KEPT_AT_THE_END) {
      const tail = this.#tail.copy();
      const responses = withDone ? done : [];
      for (const event of responses) tail.add(event);
      const closing = [...responses, ...tail.closing(this.invocationId, why, { withText })];
      try {
        return await this.#append(this.#withoutApprovals(closing), { endsTurn: true, withState });
      } catch (error) {
        if (!isRefusal(error) || !(withState || withText || withDone)) throw error;
      }
    }
  }

  async #append(events: readonly EventInput[], options: Parameters<TurnLog['append']>[1] = {}): Promise<void> {
    const stored = await this.log.append(events, options);
    this.#done = () => [];
    this.#hasStored = true;
    for (const event of stored) {
      this.#tail.add(event);
      this.#approvals.add(event);
      this.#stored.push(event);
      this.tell(event);
    }
  }

  #stamped(event: EventInput): EventInput {
    const stamped = { ...event, invocationId: this.invocationId, author: event.author ?? this.agentName };
    keepFilledInTimestamp(event, stamped);
    return this.#output ? withOutput(stamped, this.#output) : stamped;
  }
}

/** What the end of an invocation holds; the first that the rules for events allow. */
const KEPT_AT_THE_END = [true, false].flatMap((withDone) => [
  { withDone, withState: true, withText: true },
  { withDone, withState: false, withText: true },
  { withDone, withState: true, withText: false },
  { withDone, withState: false, withText: false },
]);

/** Whether the rules for events refuse a write. */
function isRefusal(error: unknown): boolean {
  return error instanceof InvalidInputError || error instanceof LimitExceededError;
}
