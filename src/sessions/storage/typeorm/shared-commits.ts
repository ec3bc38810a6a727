import { StoreUnavailableError } from '../../domain/errors.js';
import type { SqlConnection } from './sql-connection.js';
import type { SqliteTransactions } from './sqlite-transactions.js';

/** So that one commit keeps neither other processes nor this one's readers waiting for long. */
const WRITES_A_COMMIT = 64;

type Work<Result> = (connection: SqlConnection) => Promise<Result>;

interface WaitingWrite {
  readonly work: Work<unknown>;
  readonly calledAt: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets writes that wait at the same time share one transaction, since waiting for the disk is what a write
 * costs. Each is acknowledged after the commit, and none depends on another: where a transaction fails,
 * nothing of it was written, and each of its writes gets a transaction of its own.
 */
export class SharedCommits {
  #waiting: WaitingWrite[] = [];
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly transactions: SqliteTransactions) {}

  /** Does `work` in a write transaction; twice where the first one fails. */
  write<Result>(work: Work<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const calledAt = performance.now();
      this.#waiting.push({ work, calledAt, resolve: resolve as (result: unknown) => void, reject });
      if (this.#waiting.length === 1) this.#last = this.#last.then(() => this.#writeWhatWaits());
    });
  }

  /** Waits for what is under way. */
  async finished(): Promise<void> {
    await this.#last;
  }

  async #writeWhatWaits(): Promise<void> {
    while (this.#waiting.length > 0) {
      const writes = this.#waiting.slice(0, WRITES_A_COMMIT);
      await this.#writeTogether(writes);
      this.#waiting = this.#waiting.slice(writes.length);
    }
  }

  async #writeTogether(writes: readonly WaitingWrite[]): Promise<void> {
    const calledAt = Math.min(...writes.map((write) => write.calledAt));
    try {
      const results = await this.transactions.write((connection) => inTurn(writes, connection), calledAt);
      for (const [index, { resolve }] of writes.entries()) resolve(results[index]);
    } catch (error) {
      // What may have been written must not be written again.
      const isFinal = writes.length === 1 || (error instanceof StoreUnavailableError && error.outcomeUnknown);
      if (isFinal) for (const { reject } of writes) reject(error);
      else await Promise.all(writes.map((write) => this.#writeAlone(write)));
    }
  }

  async #writeAlone({ work, calledAt, resolve, reject }: WaitingWrite): Promise<void> {
    await this.transactions.write(work, calledAt).then(resolve, reject);
  }
}

async function inTurn(writes: readonly WaitingWrite[], connection: SqlConnection): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const { work } of writes) results.push(await work(connection));
  return results;
}
