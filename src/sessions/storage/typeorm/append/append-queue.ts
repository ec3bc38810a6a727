import type { AppendOutcome, Commit } from '../../../domain/commit.js';
import { StoreUnavailableError } from '../../../domain/errors.js';
import { sessionNameOf } from '../../../domain/ids.js';
import { groupBy } from '../../batches.js';
import { Semaphore } from '../../semaphore.js';
import type { Transactions } from '../sql/transaction.js';
import { SKIP_LOCKED, WAIT_FOR_LOCKED, appendCommits } from './append-commits.js';

/** Limits how long other appends wait for one transaction. A commit with more events has its own. */
const MAX_EVENTS_PER_TRANSACTION = 64;
/** A server limits the size of a message. */
const MAX_CHARACTERS_PER_TRANSACTION = 1_000_000;

interface QueuedAppend {
  readonly commit: Commit;
  readonly calledAt: number;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
}

interface AppendQueueOptions {
  /** How many batches may run at the same time. */
  readonly maxBatches: number;
  /** How many transactions may wait for locked sessions, or retry, at the same time. */
  readonly maxWaiting: number;
  /** If `false`, every append has its own transaction, and the connection pool alone limits their number. */
  readonly isOn: boolean;
}

/**
 * Batches appends that wait at the same time into one transaction, because network and disk latency are most of
 * the cost of an append. Each append resolves after the commit. Appends do not depend on each other: a batch skips
 * locked sessions, and if its transaction fails, nothing was written and each append gets its own transaction. Those
 * appends have their own limit, so that they do not delay batches.
 */
export class AppendQueue {
  #queue: QueuedAppend[] = [];
  /** Sessions of the batches that are running. */
  readonly #busySessions = new Set<string>();
  readonly #batches: Semaphore;
  readonly #waiting: Semaphore;

  constructor(
    private readonly transactions: Transactions,
    private readonly options: AppendQueueOptions,
  ) {
    this.#batches = new Semaphore(options.maxBatches);
    this.#waiting = new Semaphore(options.maxWaiting);
  }

  append(commit: Commit): Promise<AppendOutcome> {
    return new Promise((resolve, reject) => {
      const append = { commit, calledAt: performance.now(), resolve, reject };
      if (!this.options.isOn) {
        void this.#appendAndWait([append]);
        return;
      }
      this.#queue.push(append);
      if (this.#batches.hasRoom) void this.#startDraining();
    });
  }

  /** Waits until all running appends have ended. */
  async finished(): Promise<void> {
    await this.#batches.finished();
    await this.#waiting.finished();
  }

  /** Appends that come after the last look into the queue, but before the permit is returned, start nothing themselves. */
  async #startDraining(): Promise<void> {
    await this.#batches.run(() => this.#drainQueue());
    const isLeft = this.#queue.some(({ commit }) => !this.#busySessions.has(sessionNameOf(commit.key)));
    if (isLeft && this.#batches.hasRoom) void this.#startDraining();
  }

  async #drainQueue(): Promise<void> {
    // Lets appends of the same tick join the batch.
    await Promise.resolve();
    for (let batch = this.#nextBatch(); batch.length > 0; batch = this.#nextBatch()) {
      const sessions = batch.map(({ commit }) => sessionNameOf(commit.key));
      for (const session of sessions) this.#busySessions.add(session);
      await this.#appendBatch(batch);
      for (const session of sessions) this.#busySessions.delete(session);
    }
  }

  /** Takes the oldest appends. Those to a session of a running batch stay in the queue. */
  #nextBatch(): QueuedAppend[] {
    const batch: QueuedAppend[] = [];
    const rest: QueuedAppend[] = [];
    let events = 0;
    let characters = 0;
    for (const append of this.#queue) {
      const { commit } = append;
      const size = sizeOf(commit);
      const isFull =
        batch.length > 0 &&
        (events + commit.events.length > MAX_EVENTS_PER_TRANSACTION ||
          characters + size > MAX_CHARACTERS_PER_TRANSACTION);
      if (isFull || this.#busySessions.has(sessionNameOf(commit.key))) {
        rest.push(append);
      } else {
        batch.push(append);
        events += commit.events.length;
        characters += size;
      }
    }
    this.#queue = rest;
    return batch;
  }

  async #appendBatch(batch: readonly QueuedAppend[]): Promise<void> {
    const calledAt = Math.min(...batch.map((append) => append.calledAt));
    try {
      const outcomes = await this.transactions.write(
        (transaction) => appendCommits(transaction, commitsOf(batch), SKIP_LOCKED),
        { calledAt, beginsLazily: true, isSingleAttempt: batch.length > 1 },
      );
      const skipped = batch.filter((append, index) => !resolveWith(append, outcomes[index]));
      const bySession = groupBy(skipped, ({ commit }) => sessionNameOf(commit.key));
      for (const ofSession of bySession.values()) this.#appendLater(ofSession);
    } catch (error) {
      // A commit with an unknown outcome must not be repeated.
      const isFinal = batch.length === 1 || (error instanceof StoreUnavailableError && error.outcomeUnknown);
      if (isFinal) for (const { reject } of batch) reject(error);
      else for (const append of batch) this.#appendLater([append]);
    }
  }

  #appendLater(appends: readonly QueuedAppend[]): void {
    void this.#waiting.run(() => this.#appendAndWait(appends));
  }

  /** Waits for locked sessions until the time limit. */
  async #appendAndWait(appends: readonly QueuedAppend[]): Promise<void> {
    const calledAt = Math.min(...appends.map((append) => append.calledAt));
    try {
      const outcomes = await this.transactions.write(
        (transaction) => appendCommits(transaction, commitsOf(appends), WAIT_FOR_LOCKED),
        { calledAt, beginsLazily: true },
      );
      for (const [index, append] of appends.entries()) resolveWith(append, outcomes[index] ?? { kind: 'missing' });
    } catch (error) {
      for (const { reject } of appends) reject(error);
    }
  }
}

function commitsOf(appends: readonly QueuedAppend[]): Commit[] {
  return appends.map(({ commit }) => commit);
}

function sizeOf({ events }: Commit): number {
  return events.reduce((sum, { payload }) => sum + payload.length, 0);
}

/** Returns whether there is an outcome. */
function resolveWith({ resolve }: QueuedAppend, outcome: AppendOutcome | undefined): boolean {
  if (outcome) resolve(outcome);
  return outcome !== undefined;
}
