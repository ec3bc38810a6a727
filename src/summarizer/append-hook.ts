import { setMaxListeners } from 'node:events';
import { isAnySummary, isRewind } from '../sessions/domain/event/event-inspection.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { TaskTracker } from '../sessions/lifecycle.js';
import type { AfterAppend } from '../sessions/session-hooks.js';
import type { SessionService } from '../sessions/session.service.js';
import { agendaNameOf } from '../sessions/domain/background/agenda-names.js';
import { type SummaryAgenda, isInForce } from './summary-agenda.js';
import type { DueBranches } from './due-branches.js';
import { type DueCheck, factsOf } from './summary-due.js';
import type { PendingCallCache } from './pending-call-cache.js';
import type { SummaryHooks } from './summary-hooks.js';
import type { SummaryWorker } from './summary-worker.js';
import type { Threshold } from './thresholds.js';

export interface AppendHookOptions {
  readonly sessions: SessionService;
  readonly threshold: Threshold;
  readonly check: DueCheck;
  readonly branches: DueBranches;
  readonly agenda: SummaryAgenda;
  readonly worker: SummaryWorker;
  readonly pendingCalls: PendingCallCache;
  /** Whether other processes write what is due: they find it on the agenda. */
  readonly leaveToOthers: boolean;
  readonly hooks: SummaryHooks;
  /** Called if a listener to due sessions fails. */
  readonly onDueListenerError: (error: unknown) => void;
  readonly warn: (what: string, error: unknown) => void;
}

/** Puts each session in use on the agenda, and wakes the worker if an append makes a summary due. No append waits for it. */
export class AppendHook {
  readonly #checks = new TaskTracker(() => undefined);
  readonly #closing = new AbortController();
  #unregister: readonly (() => void)[] = [];

  constructor(private readonly options: AppendHookOptions) {
    // Any number of conditions may run at the same time, and each listens.
    setMaxListeners(Infinity, this.#closing.signal);
  }

  start(): void {
    const { sessions, agenda } = this.options;
    this.#unregister = [
      // Before the append, so that the entry exists even if the process is killed right after the append.
      sessions.hooks.onBeforeAppend(({ key }) => agenda.note(key)),
      sessions.hooks.onAfterAppend((append) => this.#onAppend(append)),
    ];
  }

  async whenIdle(): Promise<void> {
    await this.#checks.whenIdle();
  }

  /** Stops, and waits up to `limitMs` for running checks. A session whose check is aborted stays on the agenda. */
  async close(limitMs: number): Promise<void> {
    for (const unregister of this.#unregister) unregister();
    const timer = setTimeout(() => this.#closing.abort(new Error('the app is closing')), limitMs);
    await this.whenIdle();
    clearTimeout(timer);
  }

  #onAppend(append: AfterAppend): void {
    const { key, event, record } = append;
    if (isAnySummary(event) || isRewind(event)) return;
    const { worker, branches, pendingCalls, warn } = this.options;
    if (branches.mayBeDue(append)) this.#checks.trackInBackground(this.#checkBranches(append));
    // A new session under the id of a deleted one has no failures yet.
    if (event.seq === 1) worker.forgetFailures(key);
    const isPending = pendingCalls.isStillPending(agendaNameOf(key), event, record);
    // Counters include the whole batch, so they are checked once, with its last event.
    if (this.options.threshold.isOfCounts && event.seq < record.lastSeq) return;
    const mustWait = isPending || worker.isTooEarly(key);
    if (mustWait && this.#isFoundLater(append)) return;
    const check = this.#check(append, mustWait).catch((error: unknown) => {
      if (!this.#closing.signal.aborted) warn('A condition for summaries failed', error);
    });
    this.#checks.trackInBackground(check);
  }

  async #check({ key, event, record }: AfterAppend, mustWait: boolean): Promise<void> {
    const { check, agenda, worker, leaveToOthers, hooks, onDueListenerError } = this.options;
    const facts = factsOf(key, { record, now: record.lastUpdateTime }, event);
    if (!(await check.isDue(facts, this.#closing.signal))) return;
    const trigger = { incarnation: record.incarnation, seq: event.seq };
    if (agenda.addTrigger(key, trigger, record)) hooks.due(key, trigger, onDueListenerError);
    if (!mustWait && !leaveToOthers) worker.wake(key);
  }

  /** Reads which branches are due, because the count of this process may be too high. */
  async #checkBranches({ key, event, record }: AfterAppend): Promise<void> {
    const { branches, agenda, worker, leaveToOthers, hooks, onDueListenerError, warn } = this.options;
    try {
      const found = await branches.find(key);
      for (const branch of found) {
        hooks.due(key, { incarnation: record.incarnation, seq: event.seq, branch }, onDueListenerError);
      }
      if (found.length === 0) return;
      if (leaveToOthers) agenda.noteNow(key);
      else worker.wake(key);
    } catch (error) {
      warn('A session could not be checked for due branches', error);
    }
  }

  /** Whether a later check finds the session due without this event: by its counters, or by an earlier trigger. */
  #isFoundLater({ key, record }: { key: AfterAppend['key']; record: SessionRecord }): boolean {
    const trigger = this.options.agenda.triggerOf(key);
    return this.options.threshold.isOfCounts === true || (trigger !== undefined && isInForce(trigger, record));
  }
}
