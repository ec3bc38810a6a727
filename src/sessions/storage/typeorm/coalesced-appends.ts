import type { AppendOutcome, Commit } from '../../domain/commit.js';
import { StoreUnavailableError } from '../../domain/errors.js';
import { sessionNameOf } from '../../domain/ids.js';
import { groupedBy } from '../groups.js';
import { appendCommits } from './append-commits.js';
import { Lanes } from './lanes.js';
import type { Transactions } from './sql-transaction.js';

/** So that one transaction keeps nobody waiting for long. */
const COMMITS_A_TRANSACTION = 64;
/** A server takes only so much in one message. */
const CHARACTERS_A_TRANSACTION = 1_000_000;

interface WaitingAppend {
  readonly commit: Commit;
  readonly calledAt: number;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export interface CoalescingOptions {
  /** Transactions of appends that may be under way at the same time. */
  readonly lanes: number;
  /** The same for those that wait for somebody else, who may take his time. */
  readonly slowLanes: number;
  /** Off: every append has a transaction of its own, and there are as many at a time as the database takes. */
  readonly isOn: boolean;
}

/**
 * Lets appends that wait at the same time share one transaction, since waiting for the network and the disk
 * is what an append costs. Each is acknowledged after the commit, and none depends on another: a session that
 * somebody else has locked is set aside, and where a transaction fails, nothing of it was written, and each of
 * its appends gets a transaction of its own. Those go in lanes of their own, so that they hold up nobody.
 */
export class CoalescedAppends {
  #waiting: WaitingAppend[] = [];
  readonly #underWay = new Set<string>();
  readonly #lanes: Lanes;
  readonly #slowLanes: Lanes;

  constructor(
    private readonly transactions: Transactions,
    private readonly options: CoalescingOptions,
  ) {
    this.#lanes = new Lanes(options.lanes);
    this.#slowLanes = new Lanes(options.slowLanes);
  }

  append(commit: Commit): Promise<AppendOutcome> {
    return new Promise((resolve, reject) => {
      const append = { commit, calledAt: performance.now(), resolve, reject };
      if (!this.options.isOn) {
        void this.#appendWaiting([append]);
        return;
      }
      this.#waiting.push(append);
      if (this.#lanes.hasRoom) void this.#lanes.run(() => this.#appendWhatWaits());
    });
  }

  /** Waits for what is under way. */
  async finished(): Promise<void> {
    await this.#lanes.finished();
    await this.#slowLanes.finished();
  }

  async #appendWhatWaits(): Promise<void> {
    // What was asked for in the same breath goes together.
    await Promise.resolve();
    for (let appends = this.#takeSome(); appends.length > 0; appends = this.#takeSome()) {
      const sessions = appends.map(({ commit }) => sessionNameOf(commit.key));
      for (const session of sessions) this.#underWay.add(session);
      await this.#appendTogether(appends);
      for (const session of sessions) this.#underWay.delete(session);
    }
  }

  /** Those that have waited longest; but what goes to a session that another lane is at waits for that lane. */
  #takeSome(): WaitingAppend[] {
    const taken: WaitingAppend[] = [];
    const left: WaitingAppend[] = [];
    let characters = 0;
    for (const append of this.#waiting) {
      const { key, event } = append.commit;
      const isTooMuch =
        taken.length >= COMMITS_A_TRANSACTION ||
        (taken.length > 0 && characters + event.payload.length > CHARACTERS_A_TRANSACTION);
      if (isTooMuch || this.#underWay.has(sessionNameOf(key))) {
        left.push(append);
      } else {
        taken.push(append);
        characters += event.payload.length;
      }
    }
    this.#waiting = left;
    return taken;
  }

  async #appendTogether(appends: readonly WaitingAppend[]): Promise<void> {
    const calledAt = Math.min(...appends.map((append) => append.calledAt));
    try {
      const outcomes = await this.transactions.write(
        (transaction) => appendCommits(transaction, commitsOf(appends), 'set locked sessions aside'),
        { calledAt, isTimeNeededLater: true, isTriedOnce: appends.length > 1 },
      );
      const aside = appends.filter((append, index) => !settle(append, outcomes[index]));
      const bySession = groupedBy(aside, ({ commit }) => sessionNameOf(commit.key));
      for (const ofSession of bySession.values()) this.#appendSlowly(ofSession);
    } catch (error) {
      // What may have been written must not be written again.
      const isFinal = appends.length === 1 || (error instanceof StoreUnavailableError && error.outcomeUnknown);
      if (isFinal) for (const { reject } of appends) reject(error);
      else for (const append of appends) this.#appendSlowly([append]);
    }
  }

  #appendSlowly(appends: readonly WaitingAppend[]): void {
    void this.#slowLanes.run(() => this.#appendWaiting(appends));
  }

  /** Waits for whoever has locked the session, as long as there is time. */
  async #appendWaiting(appends: readonly WaitingAppend[]): Promise<void> {
    const calledAt = Math.min(...appends.map((append) => append.calledAt));
    try {
      const outcomes = await this.transactions.write(
        (transaction) => appendCommits(transaction, commitsOf(appends), 'wait for locked sessions'),
        { calledAt, isTimeNeededLater: true },
      );
      for (const [index, append] of appends.entries()) settle(append, outcomes[index] ?? { kind: 'missing' });
    } catch (error) {
      for (const { reject } of appends) reject(error);
    }
  }
}

function commitsOf(appends: readonly WaitingAppend[]): Commit[] {
  return appends.map(({ commit }) => commit);
}

/** Whether there was an outcome to tell. */
function settle({ resolve }: WaitingAppend, outcome: AppendOutcome | undefined): boolean {
  if (outcome) resolve(outcome);
  return outcome !== undefined;
}
