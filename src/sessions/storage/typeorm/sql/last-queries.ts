import type { Sql } from './sql.js';
import type { SqlTransaction } from './transaction.js';

/**
 * Collects the last queries of a transaction, which it sends together with COMMIT.
 *
 * @example
 * const states = last.add<StateRow>(selectState(transaction, session));
 * await last.run();
 * return states();
 */
export class LastQueries {
  readonly #queries: Sql[] = [];
  #answers: readonly unknown[][] = [];

  constructor(private readonly transaction: SqlTransaction) {}

  /** Returns the function that returns the rows, once the queries have run. */
  add<Row>(query: Sql): () => readonly Row[] {
    const place = this.#queries.push(query) - 1;
    return () => (this.#answers[place] ?? []) as Row[];
  }

  async run(): Promise<void> {
    this.#answers = await this.transaction.commitWith(this.#queries);
  }
}
