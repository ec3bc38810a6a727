import type { AppendOutcome, Commit } from '../../../domain/commit.js';
import { StoreUnavailableError } from '../../../domain/errors.js';
import { sessionNameOf } from '../../../domain/ids.js';
import { groupBy } from '../../../domain/batches.js';
import { Semaphore } from '../../semaphore.js';
import type { Transactions } from '../sql/transaction.js';
import { appendCommits } from './append-commits.js';
import { type LockPolicy, SKIP_LOCKED, WAIT_FOR_LOCKED } from './locked-sessions.js';
import { DirectAppends, type DirectWrites, mayBeDirect } from './append-directly.js';
import { KnownSessions } from './known-sessions.js';

/** Limits how long other appends wait for one transaction. A commit with more events has its own. */
const MAX_EVENTS_PER_TRANSACTION = 64;
/** A server limits the size of a message. */
const MAX_CHARACTERS_PER_TRANSACTION = 1_000_000;

interface QueuedAppend {
  readonly commit: Commit;
  readonly calledAt: number;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
  /** The outcome if a direct write, whose answer was lost, was written. */
  inDoubt?: AppendedOutcome;
}

type AppendedOutcome = AppendOutcome & { readonly kind: 'appended' };

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
 * appends have their own limit, so that they do not delay batches. A batch first relies on the remembered records of its
 * sessions, and reads only if one of them is out of date.
 */
export class AppendQueue {
  #queue: QueuedAppend[] = [];
  /** Sessions of the batches that are running. */
  readonly #busySessions = new Set<string>();
  readonly #batches: Semaphore;
  readonly #waiting: Semaphore;
  readonly known = new KnownSessions();

  constructor(
    private readonly transactions: Transactions & DirectWrites,
    private readonly options: AppendQueueOptions,
  ) {
    this.#batches = new Semaphore(options.maxBatches);
    this.#waiting = new Semaphore(options.maxWaiting);
  }

  append(commit: Commit): Promise<AppendOutcome> {
    return new Promise((resolve, reject) => {
      const append = { commit, calledAt: performance.now(), resolve, reject };
      if (!this.options.isOn) {
        void this.#appendAlone(append);
        return;
      }
      this.#queue.push(append);
      this.#startBatches();
    });
  }

  /** Waits until all running appends have ended. */
  async finished(): Promise<void> {
    await this.#batches.finished();
    await this.#waiting.finished();
  }

  #startBatches(): void {
    if (!this.#batches.hasRoom) return;
    // An append that comes after the last look at the queue, while the permit is still taken, needs another one.
    void this.#batches
      .run(() => this.#drainQueue())
      .then(() => {
        if (this.#queue.some(({ commit }) => !this.#busySessions.has(sessionNameOf(commit.key)))) this.#startBatches();
      });
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

  /** Directly unless another append to its session runs. */
  async #appendAlone(append: QueuedAppend): Promise<void> {
    const session = sessionNameOf(append.commit.key);
    let left: readonly QueuedAppend[] = [append];
    if (!this.#busySessions.has(session)) {
      this.#busySessions.add(session);
      left = await this.#appendDirectly(left);
      this.#busySessions.delete(session);
    }
    if (left.length > 0) await this.#appendAndWait(left);
  }

  async #appendBatch(all: readonly QueuedAppend[]): Promise<void> {
    const batch = await this.#appendDirectly(all);
    if (batch.length === 0) return;
    try {
      const outcomes = await this.#appendInTransaction(batch, SKIP_LOCKED, batch.length > 1);
      const skipped = batch.filter((append, index) => !resolveWith(append, outcomes[index]));
      const bySession = groupBy(skipped, ({ commit }) => sessionNameOf(commit.key));
      for (const ofSession of bySession.values()) this.#appendLater(ofSession);
    } catch (error) {
      // A commit with an unknown outcome must not be repeated.
      const isFinal = batch.length === 1 || isUnknown(error);
      if (isFinal) for (const append of batch) rejectWith(append, error);
      else for (const append of batch) this.#appendLater([append]);
    }
  }

  /** Appends to sessions whose records are remembered. Returns the appends that are left. */
  async #appendDirectly(batch: readonly QueuedAppend[]): Promise<readonly QueuedAppend[]> {
    const { known } = this;
    const candidates = batch.filter(({ commit }) => mayBeDirect(commit, known));
    if (candidates.length === 0) return batch;
    let planned: DirectAppends | undefined;
    try {
      const written = await this.transactions.writeDirectly(
        (moment) => (planned = new DirectAppends(commitsOf(candidates), known, moment)),
        calledAtOf(batch),
      );
      if (written) for (const record of written.records) known.remember(record);
      else if (planned) this.#distrust(planned);
      return batch.filter((append) => !resolveWith(append, written?.outcomeOf(append.commit)));
    } catch {
      // A repeated append finds its events if the write was written.
      if (planned) this.#distrust(planned);
      for (const append of candidates) {
        const outcome = planned?.outcomeOf(append.commit);
        if (outcome?.kind === 'appended') append.inDoubt = outcome;
      }
      return batch;
    }
  }

  #distrust({ records, owners }: DirectAppends): void {
    for (const record of records) this.known.distrust(record);
    this.known.forgetScopes(owners);
  }

  async #appendInTransaction(
    appends: readonly QueuedAppend[],
    policy: LockPolicy,
    isSingleAttempt: boolean,
  ): Promise<readonly (AppendOutcome | undefined)[]> {
    let scopes: ReadonlyMap<string, number> = new Map();
    const outcomes = await this.transactions.write(
      async (transaction) => {
        const appended = await appendCommits(transaction, commitsOf(appends), policy);
        scopes = appended.scopes;
        return appended.outcomes;
      },
      { calledAt: calledAtOf(appends), beginsLazily: true, isSingleAttempt },
    );
    this.known.rememberScopes(scopes);
    for (const [index, { commit }] of appends.entries()) {
      const outcome = outcomes[index];
      if (outcome?.kind === 'appended')
        this.known.remember(outcome.record, outcome.record.lastSeq - commit.events.length);
      else if (outcome?.kind === 'seen') this.known.remember(outcome.record, outcome.record.lastSeq);
      else if (outcome?.kind === 'missing') this.known.forget(commit.key);
    }
    return outcomes;
  }

  #appendLater(appends: readonly QueuedAppend[]): void {
    void this.#waiting.run(() => this.#appendAndWait(appends));
  }

  /** Waits for locked sessions until the time limit. */
  async #appendAndWait(appends: readonly QueuedAppend[]): Promise<void> {
    try {
      const outcomes = await this.#appendInTransaction(appends, WAIT_FOR_LOCKED, false);
      for (const [index, append] of appends.entries()) resolveWith(append, outcomes[index] ?? { kind: 'missing' });
    } catch (error) {
      for (const append of appends) rejectWith(append, error);
    }
  }
}

function calledAtOf(appends: readonly QueuedAppend[]): number {
  return Math.min(...appends.map(({ calledAt }) => calledAt));
}

function isUnknown(error: unknown): boolean {
  return error instanceof StoreUnavailableError && error.outcomeUnknown;
}

function commitsOf(appends: readonly QueuedAppend[]): Commit[] {
  return appends.map(({ commit }) => commit);
}

function sizeOf({ events }: Commit): number {
  return events.reduce((sum, { payload }) => sum + payload.length, 0);
}

/** Returns whether there is an outcome. */
function resolveWith({ resolve, inDoubt }: QueuedAppend, outcome: AppendOutcome | undefined): boolean {
  if (outcome) resolve(inDoubt && isOutcomeOf(inDoubt, outcome) ? inDoubt : outcome);
  return outcome !== undefined;
}

/** Whether the events that are stored are those of the direct write. */
function isOutcomeOf({ record, now }: AppendedOutcome, outcome: AppendOutcome): boolean {
  if (outcome.kind !== 'seen') return false;
  const first = record.lastSeq - outcome.events.length + 1;
  return outcome.events.every((event, index) => event?.seq === first + index && event.appendedAt === now);
}

/** A transaction that fails after a direct write in doubt leaves the doubt. */
function rejectWith({ reject, inDoubt }: QueuedAppend, error: unknown): void {
  const isInDoubt = inDoubt && error instanceof StoreUnavailableError;
  reject(isInDoubt ? error.withOutcome(true) : error);
}
