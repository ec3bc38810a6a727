import { setMaxListeners } from 'node:events';
import { BudgetExceededError } from '../../sessions/domain/errors/budget-error.js';
import { type EventInput, type LoggedEvent, keepFilledInTimestamp } from '../../sessions/domain/event/event.js';
import {
  InvalidInputError,
  LimitExceededError,
  SessionNotFoundError,
  StoreUnavailableError,
  TurnLostError,
} from '../../sessions/domain/errors/errors.js';
import { type SessionKey, sessionKeyOf } from '../../sessions/domain/values/ids.js';
import { forwardedAbort } from '../../sessions/domain/process/forwarded-abort.js';
import { retryUnknown } from '../../sessions/domain/process/retry-overtaken.js';
import { assertUpdatable, incarnationOf, isUpdatable } from '../../sessions/domain/session/session-tracking.js';
import { type Session, type SessionReference, referenceTo } from '../../sessions/domain/session/session.js';
import { logWatcherOf } from '../../sessions/log-watcher.js';
import { whileSaving } from '../../sessions/domain/session/unsaved-state.js';
import type { AppendEventsRequest } from '../../sessions/operations/append-events.js';
import { submittedEvent } from '../../sessions/operations/prepared-append.js';
import type { HeldTurn } from '../../sessions/operations/turns.js';
import { environmentBehind } from '../../sessions/service-environment.js';
import type { SessionService } from '../../sessions/session.service.js';
import { type SessionNews, signalsOf } from '../../sessions/session-signals.js';
import { trackedValuesOf } from '../../state/state.js';
import type { AgentEnvironment } from './agent-environment.js';
import type { PartialLog } from './partial-log.js';
import { TurnNews } from './turn-news.js';

const PAGE = 100;

/**
 * The log of a session during a turn: appends with the turn's token, and notices events of other writers. It reads nothing
 * while only this turn writes, since the numbers of its own events show that nothing lies between.
 */
export class TurnLog {
  readonly session: Session;
  /** Every event up to here is known. */
  #seq: number;
  /** Own events after a gap. */
  readonly #own = new Set<number>();
  #isAppending = false;
  /** Why the last write failed. */
  #error: unknown;
  /** What ends the run if its budget is used up. */
  #overBudget: BudgetExceededError | undefined;
  #isReading: Promise<void> | undefined;
  readonly #stops: (() => void)[] = [];
  readonly #partials: PartialLog | undefined;

  /** What others append. */
  readonly news: TurnNews;
  /** Aborts when the invocation is to end, and when the turn is lost. */
  readonly signal: AbortSignal;

  constructor(
    readonly env: AgentEnvironment,
    session: Session,
    private readonly turn: HeldTurn,
    invocationId: string,
  ) {
    this.session = session;
    this.#seq = session.version;
    this.news = new TurnNews(session.id, invocationId);
    this.signal = forwardedAbort([turn.signal, this.news.signal]).signal;
    // Many tools may listen. Node would warn of the eleventh.
    setMaxListeners(0, this.signal);
    const incarnation = incarnationOf(session);
    if (incarnation === undefined) return;
    this.#partials = env.partials?.logOf({ key: this.key, incarnation, turnToken: turn.token });
  }

  /** Refuses with `BudgetExceededError` if a budget is used up. */
  async checkBudget(): Promise<void> {
    try {
      await this.env.sessions.checkBudget(this.key);
    } catch (error) {
      if (error instanceof BudgetExceededError) this.#overBudget = error;
      throw error;
    }
  }

  /** The key of the session. */
  get key(): SessionKey {
    return sessionKeyOf({ ...this.session, sessionId: this.session.id });
  }

  /** Learns of events by others, in this process and in others. Call {@link stop} at the end. */
  follow(): void {
    const { storage, pollMs } = this.env;
    const incarnation = incarnationOf(this.session);
    if (incarnation === undefined) return;
    const wake = (news?: SessionNews): void => {
      if (!this.#isAppending && news !== 'partials') void this.readNews();
    };
    const seqOf = (): number => this.#seq;
    const waiter = {
      get seq(): number {
        return seqOf();
      },
      wake,
    };
    this.#stops.push(signalsOf(storage).subscribe(this.key, wake));
    this.#stops.push(logWatcherOf(storage, pollMs).add({ key: this.key, incarnation }, waiter));
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
    if (this.#partials) this.env.partials?.forget(this.#partials);
  }

  /** Checks events that are to be stored as one. */
  newParts(): CommitParts {
    return new CommitParts(this.env.sessions, this.key);
  }

  /** Waits until it is known what others appended before the last own event. */
  async caughtUp(): Promise<void> {
    if (this.#own.size > 0) await this.readNews();
  }

  /** Tells the server's log. */
  report(error: unknown): void {
    this.env.onError(error);
  }

  /** What this error is about, if it ends a run: the store, which may take the same write later; a used up budget; or the agent. */
  causeOf(error: unknown): 'store' | 'budget' | 'agent' {
    if (error === this.#overBudget) return 'budget';
    return error === this.#error && isPassing(error) ? 'store' : 'agent';
  }

  /**
   * Saves a partial event soon. Returns the id that the event which completes it will have, unless it has its own, and how much of
   * the message was said before.
   */
  say(event: EventInput): { readonly id?: string; readonly offset?: number } {
    return (this.#partials && this.env.partials?.say(this.#partials, event)) ?? {};
  }

  /** Whether the turn must not end without a commit, since there are partial events to remove. */
  get hasUncompleted(): boolean {
    return this.#partials?.hasStored ?? false;
  }

  /** The next commit also removes partial events of these messages, which a turn that died has left. */
  removeWithNextCommit(messageIds: readonly string[]): void {
    this.#partials?.leaveToNextCommit(messageIds);
  }

  /**
   * Appends events in one commit. Changes of the session's state that are not stored yet go with the last one.
   *
   * @param endsTurn whether the turn ends with them
   * @param withState false leaves these changes out
   * @param ifUnchanged refuses with `StaleSessionError` if others have appended what is not known here
   */
  async append(
    events: readonly EventInput[],
    { endsTurn = false, withState = true, ifUnchanged = false } = {},
  ): Promise<LoggedEvent[]> {
    if (withState) assertUpdatable(this.session);
    const values = withState ? trackedValuesOf(this.session.state) : undefined;
    const pending = values?.pending();
    // A run ends also if its handler has broken the object of the session.
    const session = withState || isUpdatable(this.session) ? this.session : referenceTo(this.key);
    this.#isAppending = true;
    try {
      if (this.#partials) await this.env.partials?.settle(this.#partials);
      const { events: said = events, endPartials } = this.#partials?.completing(events, endsTurn) ?? {};
      const given = said.map((event, index) => this.#completed(event, index === said.length - 1 ? pending : undefined));
      const expectedVersion = ifUnchanged ? this.#seq : undefined;
      const stored = await this.#appendWithRetry(session, given, { endTurn: endsTurn, endPartials, expectedVersion });
      this.#partials?.ended(endPartials);
      if (pending) values?.markSaved(pending);
      if (endsTurn) this.turn.markEnded();
      this.#noteOwn(stored);
      return stored;
    } finally {
      if (this.#partials) this.env.partials?.resume(this.#partials);
      this.#isAppending = false;
    }
  }

  /**
   * Ends the turn in the middle of an invocation, without changes of the state that no event has. If the store refuses the events,
   * the log is as if the process had died.
   */
  async leave(events: readonly EventInput[]): Promise<void> {
    try {
      await this.append(events, { endsTurn: true, withState: false });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.report(error);
    }
  }

  /** Whether the state has changes that no event has stored. */
  get hasPendingState(): boolean {
    return this.session.state.hasDelta();
  }

  async #appendWithRetry(
    session: SessionReference,
    events: readonly EventInput[],
    options: Pick<AppendEventsRequest, 'endTurn' | 'endPartials' | 'expectedVersion'>,
  ): Promise<LoggedEvent[]> {
    const { turn } = this;
    const append = async () => this.env.sessions.appendEvents({ session, events, turn, overQuota: true, ...options });
    return whileSaving(this.session, () => retryUnknown(append)).catch((error: unknown) => {
      this.#error = error;
      throw error;
    });
  }

  /** With an id, so that a retry stores it once. */
  #completed(
    event: EventInput,
    pending: ReturnType<ReturnType<typeof trackedValuesOf>['pending']> | undefined,
  ): EventInput {
    const completed: EventInput = { ...event, id: event.id ?? this.env.newId() };
    if (pending) {
      const { stateDelta: given, stateRemovals: taken, ...actions } = event.actions ?? {};
      const [stateDelta, stateRemovals] = [given ?? {}, taken ?? []];
      const removed = pending.stateRemovals.filter((key) => !Object.hasOwn(stateDelta, key));
      const kept = Object.entries(pending.stateDelta).filter(([key]) => !stateRemovals.includes(key));
      completed.actions = {
        ...actions,
        stateDelta: Object.fromEntries([...kept, ...Object.entries(stateDelta)]),
        stateRemovals: [...new Set([...stateRemovals, ...removed])],
      };
    }
    keepFilledInTimestamp(event, completed);
    return completed;
  }

  #noteOwn(stored: readonly LoggedEvent[]): void {
    const first = stored[0]?.seq ?? 0;
    if (first === this.#seq + 1) this.#seq = stored.at(-1)?.seq ?? this.#seq;
    // Somebody else appended in between.
    else if (first > this.#seq) {
      for (const { seq } of stored) this.#own.add(seq);
      void this.readNews();
    }
  }

  /** Reads what others appended, or that the session is gone. One read at a time; a failed one is repeated at the next signal. */
  async readNews(): Promise<void> {
    await this.#isReading;
    this.#isReading = this.#read().catch((error: unknown) => {
      if (error instanceof SessionNotFoundError) this.news.lose(error);
      else this.env.onError(error);
    });
    await this.#isReading;
    this.#isReading = undefined;
  }

  async #read(): Promise<void> {
    for (;;) {
      const { events, lastSeq } = await this.env.sessions.listEvents({ ...this.key, afterSeq: this.#seq, limit: PAGE });
      for (const event of events) {
        if (event.seq <= this.#seq) continue;
        this.#seq = event.seq;
        if (!this.#own.delete(event.seq)) this.news.notice(event);
      }
      if (events.length === 0 || this.#seq >= lastSeq) return;
    }
  }
}

/** The responses of tools that are to be stored with one event. */
export class CommitParts {
  #bytes = 0;

  constructor(
    private readonly sessions: SessionService,
    private readonly key: SessionKey,
  ) {}

  /** Throws as the store would. */
  add(event: EventInput): void {
    const env = environmentBehind(this.sessions);
    const { maxEventBytes } = env.limits;
    const more = Buffer.byteLength(submittedEvent(env, this.key, event).payload);
    if (this.#bytes + more > maxEventBytes) {
      throw new LimitExceededError(`the responses of all tools of a message may have ${maxEventBytes} bytes together`);
    }
    this.#bytes += more;
  }
}

/** Whether the rules for events refuse a write. */
export function isRefusal(error: unknown): boolean {
  return error instanceof InvalidInputError || error instanceof LimitExceededError;
}

/** Whether a retry of the same write may succeed. */
export function isPassing(error: unknown): boolean {
  return [StoreUnavailableError, TurnLostError, SessionNotFoundError].some((type) => error instanceof type);
}
