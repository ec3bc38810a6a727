import { setTimeout as delay } from 'node:timers/promises';
import type { LoggedEvent } from '../sessions/domain/event.js';
import { isByUser, isFinalResponse, isRewind } from '../sessions/domain/event-inspection.js';
import type { SessionKey } from '../sessions/domain/ids.js';
import type { AgentEnvironment } from './agent-environment.js';
import {
  type QueueEntry,
  inQueueOrder,
  isControlEvent,
  messageOf,
  queueEntryOf,
  withdrawnBy,
} from './control-events.js';

/** Pauses between tries after an event that seems to be the last of a turn: its end follows immediately. */
const TRIES_MS = [0, 5, 20, 50, 100];
/** Without news, the pauses grow up to so many times `pollMs`, so that thousands of waiting messages cost little. */
const LONGEST_PAUSE = 5;

/** What a waiting message learns. */
export type QueueNews =
  /** It may be its turn. */
  | { readonly kind: 'try' }
  /** Nobody took the turn for a while, although others were before it. */
  | { readonly kind: 'take over' }
  /** Somebody took it back. */
  | { readonly kind: 'withdrawn' }
  /** Its message is part of an invocation. */
  | { readonly kind: 'taken'; readonly event: LoggedEvent };

/**
 * Waits in the log for the turn of a queued message. It knows who is before it, and wakes up when a turn seems to be over.
 */
export class QueueWait {
  readonly #ahead = new Set<string>();
  /** Messages that wait no longer. */
  readonly #gone = new Set<string>();
  readonly #signal: AbortSignal;
  readonly #stopping = new AbortController();
  #taken: LoggedEvent | undefined;
  #isWithdrawn = false;
  #failure: unknown;
  #hasFailed = false;
  /** The turn may have ended between its check and the append of the message. */
  #tries: readonly number[] = [0];
  /** Tries since the last news. */
  #idleTries = 0;
  /** Other messages that wait for quiet, and their places. */
  readonly #debounced = new Map<string, number>();
  #lastArrival = performance.now();
  #freeSince: number | undefined;
  #wake: () => void = () => undefined;

  constructor(
    private readonly env: AgentEnvironment,
    private readonly key: SessionKey,
    private readonly entry: QueueEntry,
    queue: readonly QueueEntry[],
    private readonly quietMs: number,
    signal: AbortSignal,
  ) {
    this.#signal = AbortSignal.any([signal, this.#stopping.signal]);
    this.learn(queue);
    void this.#watch();
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Says which other messages wait. */
  learn(queue: readonly QueueEntry[]): void {
    for (const other of queue) this.#place(other);
  }

  /** Says that a try failed, since the turn is held. */
  noteHeld(): void {
    this.#freeSince = undefined;
  }

  /** Waits until the next try. */
  async next(): Promise<QueueNews> {
    for (;;) {
      this.#signal.throwIfAborted();
      if (this.#hasFailed) throw this.#failure;
      if (this.#taken) return { kind: 'taken', event: this.#taken };
      if (this.#isWithdrawn) return { kind: 'withdrawn' };
      const quietLeft = this.#quietLeftMs();
      if (quietLeft > 0) {
        await this.#pause(quietLeft);
        continue;
      }
      await this.#pause(this.#nextPause());
      if (this.#taken || this.#isWithdrawn || this.#hasFailed || this.#quietLeftMs() > 0) continue;
      if (this.#isFirst()) return { kind: 'try' };
      if (await this.#isAbandoned()) return { kind: 'take over' };
    }
  }

  #nextPause(): number {
    const [pause, ...rest] = this.#tries;
    this.#tries = rest;
    if (pause !== undefined) return pause;
    this.#idleTries += 1;
    // A free turn is watched more closely.
    const times = this.#freeSince === undefined ? Math.min(this.#idleTries, LONGEST_PAUSE) : 1;
    return times * this.env.pollMs;
  }

  /** Nobody is before it, and no later message took its place. */
  #isFirst(): boolean {
    return this.#ahead.size === 0 && [...this.#debounced.values()].every((seq) => seq < this.entry.seq);
  }

  #quietLeftMs(): number {
    if (this.entry.policy !== 'debounce') return 0;
    return this.#lastArrival + this.quietMs - performance.now();
  }

  /** Whether the turn was free for longer than who is first needs to take it. */
  async #isAbandoned(): Promise<boolean> {
    if (await this.env.sessions.getTurn(this.key)) {
      this.#freeSince = undefined;
      return false;
    }
    this.#freeSince ??= performance.now();
    return performance.now() - this.#freeSince >= this.env.graceMs;
  }

  async #watch(): Promise<void> {
    try {
      for await (const event of this.env.sessions.watch({
        ...this.key,
        afterSeq: this.entry.seq,
        signal: this.#signal,
      })) {
        this.#notice(event);
      }
    } catch (error) {
      this.#failure = error;
      this.#hasFailed = true;
    }
    this.#wake();
  }

  #notice(event: LoggedEvent): void {
    const entry = queueEntryOf(event);
    if (entry) this.#place(entry);
    const taken = messageOf(event);
    if (taken === this.entry.invocationId) this.#taken = event;
    const gone = taken ?? withdrawnBy(event);
    if (gone !== undefined) {
      this.#gone.add(gone);
      this.#ahead.delete(gone);
      this.#debounced.delete(gone);
    }
    if (withdrawnBy(event) === this.entry.invocationId) this.#isWithdrawn = true;
    const isEnd = isRewind(event) || (!isControlEvent(event) && !isByUser(event) && isFinalResponse(event));
    if (isEnd) this.#tries = TRIES_MS;
    if (!isEnd && gone === undefined && !entry) return;
    this.#idleTries = 0;
    this.#wake();
  }

  /** Another message is before this one, or replaces it. */
  #place(other: QueueEntry): void {
    if (other.invocationId === this.entry.invocationId || this.#gone.has(other.invocationId)) return;
    if (this.entry.policy === 'debounce' && other.policy === 'debounce') {
      // One call answers all of them: that of the newest.
      this.#debounced.set(other.invocationId, other.seq);
      if (other.seq > this.entry.seq) this.#lastArrival = performance.now();
      return;
    }
    if (inQueueOrder([this.entry, other])[0] === other) this.#ahead.add(other.invocationId);
  }

  async #pause(milliseconds: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = (): void => woken.abort();
    try {
      await delay(milliseconds, undefined, { signal: AbortSignal.any([woken.signal, this.#signal]) });
    } catch {
      // Woken, or ended.
    }
  }
}
