import { setTimeout as delay } from 'node:timers/promises';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import { isByUser, isFinalResponse, isRewind } from '../../sessions/domain/event/event-inspection.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import type { AgentEnvironment } from '../turn/agent-environment.js';
import {
  dequeuedBy,
  inQueueOrder,
  isControlEvent,
  invocationOfMessage,
  queueEntryOf,
  withdrawnBy,
} from '../turn/control-events.js';
import { type QueuePlace, batchLimitsOf, leadsFirstBatch } from '../turn/queue-place.js';
import type { Seen } from './message-while-busy.js';
import { type QueueMember, type QueueWatch, queueWatchOf } from './queue-watch.js';

/** Pauses between tries after an event that seems to be the last of a turn: its end follows immediately. */
const TRIES_MS = [0, 5, 20, 50, 100];
/** Without news, the pauses grow up to so many times `pollMs`, so that thousands of waiting messages cost little. */
const LONGEST_PAUSE = 5;

/**
 * Waits in the log for the turn of a queued message. It knows who is before it, and wakes up when a turn seems to be over.
 */
export class QueueWait implements QueueMember {
  readonly #watch: QueueWatch;
  readonly #ahead = new Set<string>();
  /** Messages that wait no longer, and since when. */
  readonly #gone = new Map<string, number>();
  #taken: Seen['message'];
  #isWithdrawn = false;
  #failure: { readonly error: unknown } | undefined;
  /** The turn may have ended between its check and the append of the message. */
  #tries: readonly number[] = [0];
  /** Tries since the last news. */
  #idleTries = 0;
  /** Other messages that wait for quiet, and their places. */
  readonly #debounced = new Map<string, number>();
  #lastArrival = performance.now();
  #wake: () => void = () => undefined;

  constructor(
    private readonly env: AgentEnvironment,
    key: SessionKey,
    readonly entry: QueuePlace,
    private readonly quietMs: number,
    private readonly signal: AbortSignal,
  ) {
    this.#watch = queueWatchOf(env.sessions, key);
    this.#watch.join(this);
  }

  stop(): void {
    this.#watch.leave(this);
  }

  /** Says which other messages wait. */
  learn(queue: readonly QueuePlace[]): void {
    for (const other of queue) {
      if (!this.#isGone(other)) this.#watch.remember(other);
      this.#place(other);
    }
  }

  /** Says that a try failed, since the turn is held. */
  noteHeld(): void {
    this.#watch.noteHeld();
  }

  /** Waits until the next try. */
  async next(): Promise<Seen> {
    for (;;) {
      this.signal.throwIfAborted();
      if (this.#failure) throw this.#failure.error;
      if (this.#taken) return { sight: 'taken', message: this.#taken };
      if (this.#isWithdrawn) return { sight: 'withdrawn' };
      const quietLeft = this.#quietLeftMs();
      if (quietLeft > 0) {
        await this.#pause(quietLeft);
        continue;
      }
      await this.#pause(this.#nextPause());
      if (this.#taken || this.#isWithdrawn || this.#failure || this.#quietLeftMs() > 0) continue;
      if (this.#isFirst()) return { sight: 'first' };
      if (await this.#watch.isFreeFor(this.env.graceMs, this.env.pollMs / 2)) return { sight: 'overdue' };
    }
  }

  #nextPause(): number {
    const [pause, ...rest] = this.#tries;
    this.#tries = rest;
    if (pause !== undefined) return pause;
    this.#idleTries += 1;
    // A free turn is watched more closely.
    const times = this.#watch.isFree ? 1 : Math.min(this.#idleTries, LONGEST_PAUSE);
    return times * this.env.pollMs;
  }

  /** Nobody is before it, and no later message answers it. */
  #isFirst(): boolean {
    if (this.#ahead.size > 0) return false;
    if (this.#debounced.size === 0) return true;
    const { policy } = this.entry;
    const others = [...this.#debounced].map(([invocationId, seq]) => {
      return { invocationId, seq, policy, bytes: this.#watch.entryOf(invocationId)?.bytes };
    });
    return leadsFirstBatch(this.entry, others, batchLimitsOf(this.env.sessions));
  }

  #quietLeftMs(): number {
    if (this.entry.policy !== 'debounce') return 0;
    return this.#lastArrival + this.quietMs - performance.now();
  }

  noticeEnd(failure?: { readonly error: unknown }): void {
    this.#failure ??= failure;
    this.#wake();
  }

  notice(event: LoggedEvent): void {
    const entry = queueEntryOf(event);
    if (entry) this.#place(entry);
    const taken = invocationOfMessage(event);
    if (taken === this.entry.invocationId) this.#taken = { invocationId: event.invocationId, seq: event.seq };
    const gone = dequeuedBy(event);
    for (const invocationId of gone) {
      this.#gone.set(invocationId, event.seq);
      this.#ahead.delete(invocationId);
      this.#debounced.delete(invocationId);
    }
    if (withdrawnBy(event) === this.entry.invocationId) this.#isWithdrawn = true;
    const isEnd = isRewind(event) || (!isControlEvent(event) && !isByUser(event) && isFinalResponse(event));
    if (isEnd) this.#tries = TRIES_MS;
    if (!isEnd && gone.length === 0 && !entry) return;
    this.#idleTries = 0;
    this.#wake();
  }

  /** Another message is before this one, or replaces it. */
  #place(other: QueuePlace): void {
    if (other.invocationId === this.entry.invocationId || this.#isGone(other)) return;
    if (this.entry.policy === 'debounce' && other.policy === 'debounce') {
      // One call answers all of them that fit: that of the newest.
      this.#debounced.set(other.invocationId, other.seq);
      if (other.seq > this.entry.seq) this.#lastArrival = performance.now();
      return;
    }
    if (inQueueOrder([this.entry, other])[0] === other) this.#ahead.add(other.invocationId);
  }

  /** What is handed over afterwards waits again. */
  #isGone({ invocationId, seq }: Pick<QueuePlace, 'invocationId' | 'seq'>): boolean {
    return (this.#gone.get(invocationId) ?? 0) > seq;
  }

  async #pause(milliseconds: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = (): void => woken.abort();
    try {
      await delay(milliseconds, undefined, { signal: AbortSignal.any([woken.signal, this.signal]) });
    } catch {
      // Woken, or ended.
    }
  }
}
