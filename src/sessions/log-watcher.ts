import { setImmediate } from 'node:timers';
import { sessionNameOf } from './domain/values/ids.js';
import { remembered } from './storage/remembered.js';
import type { LogReference, LogSubscription, LogTail, TailRequest } from './storage/session-changes.js';
import type { SessionStorage } from './storage/session-storage.js';

/** A watch that waits for new events. */
export interface LogWaiter {
  /** Its last known event. */
  readonly seq: number;
  /** The number of its last known partial event. Missing if it reads none. */
  readonly partial?: number | undefined;
  wake(): void;
}

/** Live subscriptions are checked only after so many of the longest pauses, in case an announcement was lost. */
const PAUSES_BETWEEN_CHECKS = 30;
/** What changed just now, or is watched anew, probably changes soon: then a pause is this part of the longest one. */
const SHORTEST_PART = 1 / 40;
/** Shorter pauses would keep a process busy. */
const SHORTEST_MS = 20;
const GROWTH = 1.25;

/** A log with waiters, now or recently. */
class WatchedLog {
  readonly waiters = new Set<LogWaiter>();
  readonly subscription: LogSubscription | undefined;
  /** Time of the next check, since the session may expire then. Initially immediately. */
  nextCheckAt = 0;
  /** Whether there was a waiter since the last check. */
  isInUse = true;

  constructor(
    readonly reference: LogReference,
    listen: (log: WatchedLog) => LogSubscription | undefined,
  ) {
    this.subscription = listen(this);
  }

  /** Wakes waiters that know less than `lastSeq`, or `lastPartial`; all of them if the log is gone. Returns whether there are any. */
  wake(lastSeq = Infinity, lastPartial = 0): boolean {
    const unaware = [...this.waiters].filter(({ seq, partial = Infinity }) => seq < lastSeq || partial < lastPartial);
    for (const waiter of unaware) waiter.wake();
    return unaware.length > 0;
  }

  /** What to ask the store. */
  get asked(): TailRequest {
    const withLastPartial = [...this.waiters].some(({ partial }) => partial !== undefined);
    return { ...this.reference, afterSeq: 0, limit: 0, withLastPartial };
  }
}

/**
 * Wakes the watches of one storage. They share one feed, if the storage has one, and one timer. Each tick reads the
 * ends of all logs without live subscription in one call, and wakes the waiters that miss events. While ticks find any, they follow
 * faster on each other. If the storage fails, all waiters read their logs. The timer keeps the process alive while somebody holds it.
 */
export class LogWatcher {
  readonly #logs = new Map<string, WatchedLog>();
  /** Logs that may have changed. */
  readonly #doubtful = new Set<WatchedLog>();
  /** How many keep the process alive. */
  #holders = 0;
  #checkedAt = performance.now();
  #pauseMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isTicking = false;

  constructor(
    private readonly storage: SessionStorage,
    private readonly longestPauseMs: number,
  ) {
    this.#pauseMs = longestPauseMs;
  }

  /** Number of watched logs. */
  get size(): number {
    return this.#logs.size;
  }

  /** Wakes `waiter` when the log may have changed or ended. Returns a function that removes it. */
  add(reference: LogReference, waiter: LogWaiter): () => void {
    const name = `${sessionNameOf(reference.key)}\u0000${reference.incarnation}`;
    const known = this.#logs.get(name);
    const log = known ?? new WatchedLog(reference, (begun) => this.#listenTo(begun));
    this.#logs.set(name, log);
    if (!known && !log.subscription) this.#hurry();
    log.waiters.add(waiter);
    log.isInUse = true;
    this.#keepTicking();
    return () => {
      if (!log.waiters.delete(waiter)) return;
      // A watch usually waits again soon, so a subscription is kept until the next check.
      if (log.waiters.size === 0 && !log.subscription) this.#logs.delete(name);
      if (this.#logs.size === 0) this.#stopTicking();
    };
  }

  /** Keeps the process alive while a waiter has nothing else to do than to wait. Returns how to let it go. */
  hold(): () => void {
    this.#holders += 1;
    this.#timer?.ref();
    return () => {
      this.#holders -= 1;
      if (this.#holders === 0) this.#timer?.unref();
    };
  }

  #listenTo(log: WatchedLog): LogSubscription | undefined {
    return this.storage.feed?.listen(log.reference, (lastSeq, lastPartial) => {
      if (lastSeq === undefined) this.#doubt(log);
      else log.wake(lastSeq, lastPartial);
    });
  }

  /** Collects logs, since a reconnect affects many at once, and checks them together. */
  #doubt(log: WatchedLog): void {
    if (this.#doubtful.size === 0) setImmediate(() => void this.#lookAtDoubtful());
    this.#doubtful.add(log);
  }

  async #lookAtDoubtful(): Promise<void> {
    const logs = [...this.#doubtful].filter(({ waiters }) => waiters.size > 0);
    this.#doubtful.clear();
    if (logs.length > 0) await this.#look(logs);
  }

  /** A tick that is due later comes sooner. */
  #hurry(): void {
    const shortestMs = Math.min(Math.max(this.longestPauseMs * SHORTEST_PART, SHORTEST_MS), this.longestPauseMs);
    if (this.#pauseMs <= shortestMs) return;
    this.#pauseMs = shortestMs;
    this.#stopTicking();
  }

  #keepTicking(): void {
    if (!this.#isTicking) this.#timer ??= setTimeout(() => void this.#tick(), this.#pauseMs);
    if (this.#holders > 0) this.#timer?.ref();
    else this.#timer?.unref();
  }

  #stopTicking(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #tick(): Promise<void> {
    this.#timer = undefined;
    const now = performance.now();
    const isCheck = now - this.#checkedAt >= PAUSES_BETWEEN_CHECKS * this.longestPauseMs;
    if (isCheck) {
      this.#checkedAt = now;
      this.#forgetUnused();
    }
    const due = [...this.#logs.values()].filter(
      ({ waiters, subscription: listening, nextCheckAt: lookAt }) =>
        waiters.size > 0 && (isCheck || !listening?.isLive || lookAt <= now),
    );
    this.#isTicking = true;
    const hasNews = due.length > 0 && (await this.#look(due));
    this.#isTicking = false;
    this.#pauseMs = Math.min(this.#pauseMs * GROWTH, this.longestPauseMs);
    if (hasNews) this.#hurry();
    if (this.#logs.size > 0) this.#keepTicking();
  }

  /** Returns whether there is news in any log. */
  async #look(logs: readonly WatchedLog[]): Promise<boolean> {
    const now = performance.now();
    const tails = await this.#tailsOf(logs);
    const found = logs.map((log, index) => {
      const tail = tails[index];
      log.nextCheckAt = now + (tail?.livesForMs ?? 0);
      return log.wake(tail?.lastSeq, tail?.lastPartial) && tail !== undefined;
    });
    return found.includes(true);
  }

  /** Empty if the storage fails: then the waiters read their logs and get the error. */
  async #tailsOf(logs: readonly WatchedLog[]): Promise<readonly (LogTail | undefined)[]> {
    try {
      return await this.storage.tails(logs.map(({ asked }) => asked));
    } catch {
      return [];
    }
  }

  #forgetUnused(): void {
    for (const [name, log] of this.#logs) {
      if (log.waiters.size === 0 && !log.isInUse) {
        log.subscription?.stop();
        this.#logs.delete(name);
      }
      log.isInUse = log.waiters.size > 0;
    }
  }
}

const watchersOf = remembered(
  (storage: SessionStorage) => remembered((tickMs: number) => new LogWatcher(storage, tickMs)),
  new WeakMap(),
);

/** The watcher that all services with the same storage and interval share. */
export function logWatcherOf(storage: SessionStorage, tickMs: number): LogWatcher {
  return watchersOf(storage)(tickMs);
}
