import { setMaxListeners } from 'node:events';
import type { SessionService } from '../sessions/session.service.js';
import type { AfterAppend } from '../sessions/session-hooks.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import type { SessionKey } from '../sessions/domain/ids.js';
import { SessionNotFoundError } from '../sessions/domain/errors.js';
import type { SessionRecord } from '../sessions/domain/session-record.js';
import { isRewind, isSummary } from '../sessions/domain/event-inspection.js';
import { type DueSince, isInForce } from './due-since.js';
import { AgendaRounds } from './agenda-rounds.js';
import type { HeldCuts } from './held-cuts.js';
import { Remembered } from './remembered.js';
import { RetryTimes } from './retry-times.js';
import { agendaNameOf, dueNameOf, noteOf } from './session-names.js';
import { SummaryAgenda } from './summary-agenda.js';
import { SummaryQueue } from './summary-queue.js';
import { type SummaryWork, factsOf } from './summary-work.js';
import type { CheckedSummarizerOptions } from './summarizer-options.js';

export interface DueSummariesOptions extends CheckedSummarizerOptions {
  readonly sessions: SessionService;
  readonly storage: SessionStorage;
  readonly work: SummaryWork;
  readonly held: HeldCuts;
  readonly warn: (what: string, error: unknown) => void;
}

const MOST_WAITING = 10_000;
const FIRST_RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 30 * 60_000;

/**
 * Writes summaries by itself: after the append that makes one due, in the background; and from time to time those that
 * nobody saw to, because a process ended, a model failed, or the session has been idle for long enough.
 */
export class DueSummaries {
  readonly #options: DueSummariesOptions;
  readonly #queue: SummaryQueue;
  readonly #retries: RetryTimes;
  readonly #agenda: SummaryAgenda;
  readonly #rounds: AgendaRounds;
  /** Of the sessions that wait, run or are to be tried again. */
  readonly #dueSince = new Remembered<DueSince>(MOST_WAITING);
  readonly #looking = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #unhook: readonly (() => void)[] = [];

  constructor(options: DueSummariesOptions) {
    const { clock, concurrency, storage, warn } = options;
    this.#options = options;
    // Any number of conditions may be waited for at the same time.
    setMaxListeners(Infinity, this.#closing.signal);
    this.#queue = new SummaryQueue({
      concurrency,
      mostWaiting: MOST_WAITING,
      run: (name, signal) => this.#run(name, signal),
    });
    this.#retries = new RetryTimes({ clock, firstMs: FIRST_RETRY_MS, mostMs: LONGEST_RETRY_MS });
    const onError = (error: unknown): void => warn('What may become due could not be noted', error);
    this.#agenda = new SummaryAgenda({ agenda: storage.agenda, onError });
    const see = (name: string, since?: DueSince): void => this.#see(name, since);
    const isKnown = (name: string): boolean => this.#dueSince.has(name);
    this.#rounds = new AgendaRounds({ ...options, agenda: this.#agenda, isKnown, see });
  }

  start(): void {
    const { hooks } = this.#options.sessions;
    this.#unhook = [
      // Before the append, so that a process that dies right after it leaves a note; nobody waits for it.
      hooks.onBeforeAppend(({ key }) => this.#agenda.note(agendaNameOf(key))),
      hooks.onAfterAppend((append) => this.#lookAt(append)),
    ];
  }

  get counts(): { waiting: number; running: number } {
    return this.#queue.counts;
  }

  /** The event that made a session due, as far as this process knows of one that is not seen to yet. */
  dueSince(key: SessionKey): DueSince | undefined {
    return this.#dueSince.get(agendaNameOf(key));
  }

  /** Looks at the sessions whose time has come, in one process at a time; says how many they were. */
  async sweep(signal?: AbortSignal): Promise<number> {
    return this.#rounds.go(signal);
  }

  async whenIdle(): Promise<void> {
    await this.#whenLooked();
    await this.#queue.whenEmpty();
    await this.#agenda.whenWritten();
  }

  async close(limitMs: number): Promise<void> {
    for (const unhook of this.#unhook) unhook();
    const endsAt = performance.now() + limitMs;
    // A condition of the app's own may hang; what it would have found is on the agenda.
    const timer = setTimeout(() => this.#closing.abort(new Error('the app is closing')), limitMs);
    await this.#whenLooked();
    clearTimeout(timer);
    await this.#queue.close(Math.max(0, endsAt - performance.now()));
    await this.#agenda.whenWritten();
  }

  async #whenLooked(): Promise<void> {
    while (this.#looking.size > 0) await Promise.all(this.#looking);
  }

  #see(name: string, since?: DueSince): void {
    if (since && !this.#dueSince.has(name)) this.#dueSince.set(name, since);
    if (!this.#retries.isTooEarly(name)) this.#queue.add(name);
  }

  #lookAt({ key, event, record }: AfterAppend): void {
    if (isSummary(event) || isRewind(event)) return;
    const name = agendaNameOf(key);
    const { held, work, warn } = this.#options;
    // Made anew under an id, a session has failed at nothing yet.
    if (event.seq === 1) this.#retries.succeeded(name);
    const hasToWait = held.isStillHeld(name, event, record) || this.#retries.isTooEarly(name);
    if (hasToWait && this.#isFoundLater(name, record)) return;
    const facts = factsOf(key, { record, now: record.lastUpdateTime }, event);
    const looking = this.#lookNow({ key, event, record }, hasToWait, () => work.isDue(facts, this.#closing.signal))
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) warn('A condition for summaries failed', error);
      })
      .finally(() => this.#looking.delete(looking));
    this.#looking.add(looking);
  }

  /** Whether a session that is due is found to be due also when this event is not its newest any more. */
  #isFoundLater(name: string, record: SessionRecord): boolean {
    const since = this.#dueSince.get(name);
    return this.#options.threshold.isOfCounts === true || (since !== undefined && isInForce(since, record));
  }

  async #lookNow(append: AfterAppend, hasToWait: boolean, isDue: () => boolean | Promise<boolean>): Promise<void> {
    if (!(await isDue())) return;
    this.#remember(append);
    if (!hasToWait) this.#queue.add(agendaNameOf(append.key));
  }

  /** Here, and where the event alone may have made it due, also for those who come after this process. */
  #remember({ key, event, record }: AfterAppend): void {
    const name = agendaNameOf(key);
    const before = this.#dueSince.get(name);
    if (before && isInForce(before, record)) return;
    const since = { incarnation: record.incarnation, seq: event.seq };
    this.#dueSince.set(name, since);
    this.#noteSince(key, since);
  }

  #noteSince(key: SessionKey, since: DueSince, inMs?: number): void {
    if (!this.#options.threshold.isOfCounts) this.#agenda.note(dueNameOf(key, since), inMs);
  }

  /** What was found due meanwhile is not forgotten with it. */
  #forget(name: string, since: DueSince | undefined): void {
    this.#retries.succeeded(name);
    if (this.#dueSince.get(name) === since) this.#dueSince.delete(name);
  }

  async #run(name: string, signal: AbortSignal): Promise<void> {
    const key = noteOf(name)?.key;
    // It may have failed since it began to wait for its turn.
    if (!key || this.#retries.isTooEarly(name)) return;
    const since = this.#dueSince.get(name);
    try {
      const outcome = await this.#options.work.run(key, false, signal, since);
      if (outcome.kind === 'busy') return;
      // Who called it off is not asked again with every append.
      if (outcome.isCalledOff) this.#putOff(key, since);
      else this.#forget(name, since);
    } catch (error) {
      // A closing app leaves it on the agenda.
      if (signal.aborted) return;
      // Deleted meanwhile. What was made anew under its id has failed at nothing yet.
      if (error instanceof SessionNotFoundError) return this.#forget(name, since);
      const { count, waitMs } = this.#putOff(key, since);
      const again = `try ${count + 1} in ${Math.round(waitMs / 1000)} s`;
      this.#options.warn(`No summary of session ${JSON.stringify(key.sessionId)}, ${again}`, error);
    }
  }

  #putOff(key: SessionKey, since: DueSince | undefined): { count: number; waitMs: number } {
    const name = agendaNameOf(key);
    const times = this.#retries.failed(name);
    this.#agenda.note(name, times.waitMs);
    if (since) this.#noteSince(key, since, times.waitMs);
    return times;
  }
}
