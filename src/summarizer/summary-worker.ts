import type { Clock } from '../sessions/domain/process/clock.js';
import { SessionNotFoundError } from '../sessions/domain/errors/errors.js';
import type { SessionKey } from '../sessions/domain/values/ids.js';
import { digestOf } from '../sessions/domain/values/json-digest.js';
import { withLease } from '../sessions/leases/with-lease.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { AGENDA_SEPARATOR, agendaNameOf } from '../sessions/domain/background/agenda-names.js';
import { type DueSession, type DueTrigger, type SummaryAgenda, leaseNameOf } from './summary-agenda.js';
import type { DueBranches } from './due-branches.js';
import type { DueCheck } from './summary-due.js';
import { RetrySchedule } from './retry-schedule.js';
import { SessionTasks } from './session-tasks.js';
import type { SessionSummary } from './session-summary.js';
import type { SummaryWriter } from './summary-writer.js';

export interface SummaryWorkerOptions {
  readonly storage: SessionStorage;
  readonly clock: Clock;
  readonly agenda: SummaryAgenda;
  readonly check: DueCheck;
  readonly branches: DueBranches;
  readonly writer: SummaryWriter;
  /** How many sessions are worked on at the same time. */
  readonly concurrency: number;
  /** Called after a failure that is retried. */
  readonly warn: (what: string, error: unknown) => void;
  /** Called if a lease of a session could not be renewed or released. */
  readonly onLeaseError: (error: unknown) => void;
}

export interface SummarizeOptions {
  readonly force: boolean;
  /** Of which branch; missing for the whole conversation. */
  readonly branch?: string | undefined;
  readonly signal: AbortSignal;
  /** The event that made the session due, if known. */
  readonly trigger?: DueTrigger | undefined;
}

export type SummaryOutcome =
  /** Another process, or another task of this one, holds the lease. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'done'; readonly summary: SessionSummary | undefined; readonly isCancelled: boolean };

/** The name of the lease of the sweep, and of its interval in SchedulerRegistry. */
export const SWEEP_NAME = 'nestjs-agent-sessions:summaries';

/** How long a lease stays after its process was killed. It is renewed during the work, which may take longer. */
const LEASE_MS = 10_000;
const MAX_TASKS = 10_000;
/** Pause between two attempts to get the lease of a session that another process holds. */
const BUSY_RETRY_MS = 2_000;

/**
 * Takes due sessions from the agenda, or when it is woken, and has their summaries written: one task per session, under a
 * lease. A session stays on the agenda until nothing is left to do.
 */
export class SummaryWorker {
  readonly #options: SummaryWorkerOptions;
  readonly #tasks: SessionTasks;
  readonly #retries: RetrySchedule;
  /** One per session whose lease another process holds. */
  readonly #busyTimers = new Map<string, NodeJS.Timeout>();

  constructor(options: SummaryWorkerOptions) {
    const { clock, concurrency } = options;
    this.#options = options;
    this.#tasks = new SessionTasks({ concurrency, maxTasks: MAX_TASKS });
    this.#retries = new RetrySchedule({ clock });
  }

  get counts(): { waiting: number; running: number } {
    return this.#tasks.counts;
  }

  /** Starts to work on a session. If it failed recently, only on the branches that were found. */
  wake(key: SessionKey): void {
    if (!this.isTooEarly(key) || this.#options.branches.found(key).length > 0)
      this.#tasks.wake(agendaNameOf(key), (signal) => this.#work(key, signal));
  }

  /** Whether a session failed, or was busy, so recently that it is not retried yet. */
  isTooEarly(key: SessionKey): boolean {
    return this.#retries.isTooEarly(agendaNameOf(key));
  }

  forgetFailures(key: SessionKey): void {
    this.#retries.succeeded(agendaNameOf(key));
  }

  /** Takes all due sessions from the agenda, in one process at a time. Returns how many there were. */
  async sweep(signal?: AbortSignal): Promise<number> {
    const { storage, agenda, warn } = this.#options;
    const onError = (error: unknown): void => warn('The lease for taking due summaries failed', error);
    const lease = { leases: storage.leases, name: SWEEP_NAME, ttlMs: LEASE_MS, onError };
    const outcome = await withLease(lease, async (held) => {
      const seen = new Set<string>();
      for await (const due of agenda.due()) {
        held.signal.throwIfAborted();
        if (signal?.aborted) break;
        await this.#take(due, signal);
        seen.add(agendaNameOf(due.key));
      }
      return seen.size;
    });
    return outcome.ran ? outcome.result : 0;
  }

  /** Writes what is due, or with `force` all that can be summarised, under the lease of the session. */
  async summarize(key: SessionKey, { signal, ...options }: SummarizeOptions): Promise<SummaryOutcome> {
    const { storage, onLeaseError } = this.#options;
    const lease = { leases: storage.leases, name: leaseNameOf(key), ttlMs: LEASE_MS, onError: onLeaseError };
    const outcome = await withLease(lease, (held) =>
      this.#write(key, { ...options, signal: AbortSignal.any([signal, held.signal]) }),
    );
    return outcome.ran ? outcome.result : { kind: 'busy' };
  }

  async whenIdle(): Promise<void> {
    await this.#tasks.whenIdle();
  }

  /** Starts no more tasks, waits up to `limitMs` for running tasks, then aborts them. */
  async close(limitMs: number): Promise<void> {
    await this.#tasks.close(limitMs);
    for (const timer of this.#busyTimers.values()) clearTimeout(timer);
  }

  /** An entry that fails is postponed, so that it does not block the entries after it. */
  async #take(due: DueSession, signal: AbortSignal | undefined): Promise<void> {
    const { agenda, warn } = this.#options;
    try {
      await this.#checkEntry(due, signal);
    } catch (error) {
      warn('A session could not be checked for a due summary', error);
      await agenda.postpone(due.entry);
    }
  }

  async #checkEntry({ entry, key, trigger }: DueSession, signal: AbortSignal | undefined): Promise<void> {
    const { agenda, check, branches } = this.#options;
    const facts = await (trigger ? check.factsSince(key, trigger) : check.factsOf(key));
    if (!facts) return agenda.remove(entry);
    const isKnownDue = trigger ?? agenda.triggerOf(key);
    const isDue = isKnownDue !== undefined || (await check.isDue(facts, signal));
    const nextMs = isDue ? undefined : check.nextCheckIn(facts);
    const found = await branches.find(key);
    if (isDue || found.length > 0) {
      await agenda.postpone(entry, Math.min(facts.idleMs, nextMs ?? Infinity));
      if (trigger) agenda.rememberTrigger(key, trigger);
      return this.wake(key);
    }
    if (nextMs === undefined) await agenda.remove(entry);
    else await agenda.reschedule(entry, nextMs);
  }

  /** The task of a session. Never throws. */
  async #work(key: SessionKey, signal: AbortSignal): Promise<void> {
    const trigger = this.#options.agenda.triggerOf(key);
    try {
      // It may have failed while this task waited.
      if (!this.isTooEarly(key)) await this.#workOnWhole(key, trigger, signal);
      if (!this.#isBusy(key)) await this.#workOnBranches(key, signal);
    } catch {
      // If the app is closing, the session stays on the agenda. Otherwise it has been deleted.
      if (!signal.aborted) this.#finish(key, trigger);
    }
  }

  async #workOnWhole(key: SessionKey, trigger: DueTrigger | undefined, signal: AbortSignal): Promise<void> {
    try {
      const outcome = await this.summarize(key, { force: false, signal, trigger });
      if (outcome.kind === 'busy') this.#retryWhenFree(key);
      else if (outcome.isCancelled) this.#retryLater(key, trigger);
      else this.#finish(key, trigger);
    } catch (error) {
      if (signal.aborted || error instanceof SessionNotFoundError) throw error;
      const retry = this.#retryLater(key, trigger);
      this.#options.warn(`No summary of session ${JSON.stringify(key.sessionId)}, ${nextTry(retry)}`, error);
    }
  }

  /** After the whole: its summary may cover them. The session stays on the agenda while one is due, so it needs no entry for a retry. */
  async #workOnBranches(key: SessionKey, signal: AbortSignal): Promise<void> {
    const { branches, warn } = this.#options;
    for (const branch of branches.found(key)) {
      const name = [agendaNameOf(key), digestOf(branch)].join(AGENDA_SEPARATOR);
      if (this.#retries.isTooEarly(name)) continue;
      try {
        const outcome = await this.summarize(key, { force: false, branch, signal });
        if (outcome.kind === 'busy') return this.#retryWhenFree(key);
        if (outcome.isCancelled) {
          this.#retries.failed(name);
          continue;
        }
        this.#retries.succeeded(name);
        branches.finish(key, branch);
      } catch (error) {
        if (signal.aborted || error instanceof SessionNotFoundError) throw error;
        const retry = nextTry(this.#retries.failed(name));
        const what = `branch ${JSON.stringify(branch)} of session ${JSON.stringify(key.sessionId)}`;
        warn(`No summary of ${what}, ${retry}`, error);
      }
    }
  }

  async #write(key: SessionKey, { force, branch, signal, trigger }: SummarizeOptions): Promise<SummaryOutcome> {
    const { check, writer } = this.#options;
    const isAsked = force || branch !== undefined;
    const isDue = async (): Promise<boolean> => !isAsked && check.isStillDue(key, signal, trigger);
    let summary: SessionSummary | undefined;
    // Repeats: events that were appended while the model worked may have made the next summary due.
    for (let isLeft = isAsked || (await isDue()); isLeft;) {
      const outcome = await writer.write(key, { isForced: force, branch }, signal);
      if (outcome.kind === 'overtaken') {
        isLeft = isAsked || (await isDue());
        continue;
      }
      if (outcome.kind !== 'written') return { kind: 'done', summary, isCancelled: outcome.kind === 'cancelled' };
      ({ summary } = outcome);
      isLeft = outcome.isPart || (await isDue());
    }
    return { kind: 'done', summary, isCancelled: false };
  }

  #finish(key: SessionKey, trigger: DueTrigger | undefined): void {
    this.forgetFailures(key);
    this.#options.agenda.forgetTrigger(key, trigger);
  }

  #retryLater(key: SessionKey, trigger: DueTrigger | undefined): { count: number; waitMs: number } {
    const retry = this.#retries.failed(agendaNameOf(key));
    this.#options.agenda.retryIn(key, trigger, retry.waitMs);
    return retry;
  }

  /** Whether another process holds the lease, and it is too early to ask again. */
  #isBusy(key: SessionKey): boolean {
    return this.isTooEarly(key) && this.#busyTimers.has(agendaNameOf(key));
  }

  /** Until the next attempt, appends to this session do not request the lease. */
  #retryWhenFree(key: SessionKey): void {
    const name = agendaNameOf(key);
    this.#retries.postpone(name, BUSY_RETRY_MS);
    clearTimeout(this.#busyTimers.get(name));
    const timer = setTimeout(() => {
      this.#busyTimers.delete(name);
      this.#retries.postpone(name, 0);
      this.wake(key);
    }, BUSY_RETRY_MS);
    this.#busyTimers.set(name, timer.unref());
  }
}

function nextTry({ count, waitMs }: { readonly count: number; readonly waitMs: number }): string {
  return `try ${count + 1} in ${Math.round(waitMs / 1000)} s`;
}
