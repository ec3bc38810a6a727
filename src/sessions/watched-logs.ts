import { sessionNameOf } from './domain/ids.js';
import type { Listening, LogReference } from './storage/session-changes.js';
import type { SessionStorage } from './storage/session-storage.js';

/** Somebody who waits for a log to go on. */
export interface Waiter {
  /** The last event that it knows. */
  readonly seq: number;
  wake(): void;
}

/** What is heard by itself is looked at only every so many ticks, in case something was not heard after all. */
const TICKS_BETWEEN_CHECKS = 30;

/** A log that somebody waits for, or did a moment ago. */
class WatchedLog {
  readonly waiters = new Set<Waiter>();
  readonly listening: Listening | undefined;
  /** When it has to be looked at, whatever is heard: its session may expire then. At once, since nobody knows yet. */
  lookAt = 0;
  /** Whether somebody waited since the last check. */
  isInUse = true;

  constructor(
    readonly reference: LogReference,
    listen: (log: WatchedLog) => Listening | undefined,
  ) {
    this.listening = listen(this);
  }

  /** Wakes whoever does not know that much; everybody, where the log is gone. */
  wake(lastSeq = Infinity): void {
    for (const waiter of this.waiters) if (waiter.seq < lastSeq) waiter.wake();
  }
}

/**
 * All who wait for logs of one storage. They share one feed, if the storage has one, and one timer: at each tick it
 * asks for the positions of all logs of which nothing would be heard otherwise, together, and wakes those who miss
 * something. A storage that cannot tell positions has everybody look.
 */
export class WatchedLogs {
  readonly #logs = new Map<string, WatchedLog>();
  /** Those to which nobody knows what happened. */
  readonly #doubtful = new Set<WatchedLog>();
  #ticks = 0;
  #timer: NodeJS.Timeout | undefined;
  #isTicking = false;

  constructor(
    private readonly storage: SessionStorage,
    private readonly tickMs: number,
  ) {}

  /** How many logs are looked after. */
  get size(): number {
    return this.#logs.size;
  }

  /** Wakes `waiter` whenever the log may have gone on or ended, until what this returns is called. */
  add(reference: LogReference, waiter: Waiter): () => void {
    const name = `${sessionNameOf(reference.key)}\u0000${reference.incarnation}`;
    const log = this.#logs.get(name) ?? new WatchedLog(reference, (begun) => this.#listenTo(begun));
    this.#logs.set(name, log);
    log.waiters.add(waiter);
    log.isInUse = true;
    this.#keepTicking();
    return () => {
      log.waiters.delete(waiter);
      // Who reads on waits again soon, and an ear is not made anew for each event.
      if (log.waiters.size === 0 && !log.listening) this.#logs.delete(name);
      if (this.#logs.size === 0) this.#stopTicking();
    };
  }

  #listenTo(log: WatchedLog): Listening | undefined {
    return this.storage.changes?.feed?.listen(log.reference, (lastSeq) => {
      if (lastSeq === undefined) this.#doubt(log);
      else log.wake(lastSeq);
    });
  }

  /** After a connection came back that may be so for thousands, so they are asked about together. */
  #doubt(log: WatchedLog): void {
    if (this.#doubtful.size === 0) setImmediate(() => void this.#lookAtDoubtful());
    this.#doubtful.add(log);
  }

  async #lookAtDoubtful(): Promise<void> {
    const logs = [...this.#doubtful].filter(({ waiters }) => waiters.size > 0);
    this.#doubtful.clear();
    if (logs.length > 0) await this.#look(logs);
  }

  #keepTicking(): void {
    if (this.#timer || this.#isTicking) return;
    this.#timer = setTimeout(() => void this.#tick(), this.tickMs).unref();
  }

  #stopTicking(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #tick(): Promise<void> {
    this.#timer = undefined;
    this.#ticks += 1;
    const isCheck = this.#ticks % TICKS_BETWEEN_CHECKS === 0;
    if (isCheck) this.#forgetUnused();
    const now = performance.now();
    const due = [...this.#logs.values()].filter(
      ({ waiters, listening, lookAt }) => waiters.size > 0 && (isCheck || !listening?.isLive || lookAt <= now),
    );
    this.#isTicking = true;
    if (due.length > 0) await this.#look(due);
    this.#isTicking = false;
    if (this.#logs.size > 0) this.#keepTicking();
  }

  async #look(logs: readonly WatchedLog[]): Promise<void> {
    const now = performance.now();
    const positions = await this.#positionsOf(logs);
    for (const [index, log] of logs.entries()) {
      const position = positions[index];
      log.lookAt = now + (position?.livesForMs ?? 0);
      log.wake(position?.lastSeq);
    }
  }

  /** None where they cannot be told: then those who wait look themselves, and hear why. */
  async #positionsOf(logs: readonly WatchedLog[]) {
    try {
      return (await this.storage.changes?.positions(logs.map(({ reference }) => reference))) ?? [];
    } catch {
      return [];
    }
  }

  #forgetUnused(): void {
    for (const [name, log] of this.#logs) {
      if (log.waiters.size === 0 && !log.isInUse) {
        log.listening?.stop();
        this.#logs.delete(name);
      }
      log.isInUse = log.waiters.size > 0;
    }
  }
}

const watchedLogsOfStorages = new WeakMap<SessionStorage, Map<number, WatchedLogs>>();

/** All services over one storage that look as often share what they wait for. */
export function watchedLogsOf(storage: SessionStorage, tickMs: number): WatchedLogs {
  const byTick = watchedLogsOfStorages.get(storage) ?? new Map<number, WatchedLogs>();
  const watched = byTick.get(tickMs) ?? new WatchedLogs(storage, tickMs);
  watchedLogsOfStorages.set(storage, byTick.set(tickMs, watched));
  return watched;
}
