import type { Sql } from '../sql.js';
import type { StatementRunner, TransactionMode } from '../sql-transaction.js';

/** A connection of a pool while one transaction has it. */
export interface PooledConnection extends StatementRunner {
  /** Has a transaction begin along with the next statement. */
  begin(mode: TransactionMode): void;
  /** Has it begin now. */
  begun(): Promise<void>;
  /** The database's time when the transaction began, or when it last got locks. */
  now(): number;
  /**
   * Runs the last statements and commits, in as few round trips as the driver allows.
   * @param announcement is said after that; what becomes of it makes no difference
   */
  commit(statements: readonly Sql[], announcement?: Sql): Promise<void>;
  rollback(): Promise<void>;
  /** Gives it back to the pool. */
  release(): void;
  /** Closes it at once, whatever it is doing. */
  discard(): void;
}

export interface ConnectionPool {
  acquire(): Promise<PooledConnection>;
}
