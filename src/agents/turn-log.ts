import { type EventInput, type LoggedEvent, keepFilledInTimestamp } from '../sessions/domain/event.js';
import { StoreUnavailableError } from '../sessions/domain/errors.js';
import { sessionKeyOf } from '../sessions/domain/ids.js';
import type { EndedPartials } from '../sessions/domain/partial-event.js';
import { incarnationOf } from '../sessions/domain/session-tracking.js';
import type { Session } from '../sessions/domain/session.js';
import { logWatcherOf } from '../sessions/log-watcher.js';
import type { HeldTurn } from '../sessions/operations/turns.js';
import { type SessionNews, signalsOf } from '../sessions/session-signals.js';
import { trackedValuesOf } from '../state/state.js';
import type { AgentEnvironment } from './agent-environment.js';
import type { PartialLog } from './partial-log.js';

/** How often an append is repeated whose outcome is unknown. The event id makes it safe. */
const MAX_TRIES = 3;
const PAGE = 100;

/**
 * The log of a session during a turn: appends with the turn's token, and tells events of other writers. It reads nothing
 * while only this turn writes, since the numbers of its own events show that nothing lies between.
 */
export class TurnLog {
  readonly session: Session;
  /** Every event up to here is known. */
  #seq: number;
  /** Own events after a gap. */
  readonly #own = new Set<number>();
  #isAppending = false;
  #isReading: Promise<void> | undefined;
  readonly #stops: (() => void)[] = [];
  readonly #partials: PartialLog | undefined;

  /** @param onForeign gets the events that others append */
  constructor(
    private readonly env: AgentEnvironment,
    session: Session,
    private readonly turn: HeldTurn,
    private readonly onForeign: (event: LoggedEvent) => void,
  ) {
    this.session = session;
    this.#seq = session.version;
    const incarnation = incarnationOf(session);
    if (incarnation === undefined) return;
    this.#partials = env.partials?.logOf({ key: this.key, incarnation, turnToken: turn.token });
  }

  /** The key of the session. */
  get key(): { readonly appName: string; readonly userId: string; readonly sessionId: string } {
    return sessionKeyOf({ ...this.session, sessionId: this.session.id });
  }

  /** Learns of events by others, in this process and in others. Call {@link stop} at the end. */
  follow(): void {
    const { storage, pollMs } = this.env;
    const incarnation = incarnationOf(this.session);
    if (incarnation === undefined) return;
    const wake = (news?: SessionNews): void => {
      if (!this.#isAppending && news !== 'partials') void this.#readForeign();
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

  /** Saves a partial event soon. Returns the id that the event which completes it will have, unless it has its own. */
  say(event: EventInput): string | undefined {
    return this.#partials?.add(event);
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
   */
  async append(events: readonly EventInput[], { endsTurn = false, withState = true } = {}): Promise<LoggedEvent[]> {
    const values = trackedValuesOf(this.session.state);
    const pending = withState ? values.pending() : undefined;
    this.#isAppending = true;
    try {
      if (this.#partials) await this.env.partials?.settle(this.#partials);
      const { events: said = events, endPartials } = this.#partials?.completing(events, endsTurn) ?? {};
      const given = said.map((event, index) => this.#completed(event, index === said.length - 1 ? pending : undefined));
      const stored = await this.#appendWithRetry(given, endsTurn, endPartials);
      this.#partials?.ended(endPartials);
      if (pending) values.markSaved(pending);
      if (endsTurn) this.turn.markEnded();
      this.#noteOwn(stored);
      return stored;
    } finally {
      this.#partials?.resume();
      this.#isAppending = false;
    }
  }

  /** Whether the state has changes that no event has stored. */
  get hasPendingState(): boolean {
    return this.session.state.hasDelta();
  }

  async #appendWithRetry(
    events: readonly EventInput[],
    endTurn: boolean,
    endPartials: EndedPartials | undefined,
  ): Promise<LoggedEvent[]> {
    for (let tries = 1; ; tries++) {
      try {
        const { session, turn } = this;
        return await this.env.sessions.appendEvents({ session, events, turn, endTurn, endPartials });
      } catch (error) {
        if (!(error instanceof StoreUnavailableError && error.outcomeUnknown) || tries === MAX_TRIES) throw error;
      }
    }
  }

  /** With an id, so that a retry stores it once. */
  #completed(
    event: EventInput,
    pending: ReturnType<ReturnType<typeof trackedValuesOf>['pending']> | undefined,
  ): EventInput {
    const completed: EventInput = { ...event, id: event.id ?? this.env.newId() };
    if (pending) {
      const { stateDelta = {}, stateRemovals = [], ...actions } = event.actions ?? {};
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
      void this.#readForeign();
    }
  }

  /** Reads what others appended. One read at a time; a failed one is repeated at the next signal. */
  async #readForeign(): Promise<void> {
    await this.#isReading;
    this.#isReading = this.#read().catch((error: unknown) => this.env.onError(error));
    await this.#isReading;
    this.#isReading = undefined;
  }

  async #read(): Promise<void> {
    for (;;) {
      const { events, lastSeq } = await this.env.sessions.listEvents({ ...this.key, afterSeq: this.#seq, limit: PAGE });
      for (const event of events) {
        if (event.seq <= this.#seq) continue;
        this.#seq = event.seq;
        if (!this.#own.delete(event.seq)) this.onForeign(event);
      }
      if (events.length === 0 || this.#seq >= lastSeq) return;
    }
  }
}
