import type { DataSource } from 'typeorm';
import { ConfigurationError } from '../../../../config/configuration-error.js';
import { hasColumns } from '../connect/executed-migrations.js';
import { type Naming, formatTablePath } from '../schema/create-tables.js';
import { namingOf } from '../schema/migrations.js';
import { Sql, sql } from '../sql/sql.js';
import type { Transactions } from '../sql/transaction.js';
import { createSearch, SEARCH, SEARCH_COLUMNS, SEARCH_WORDS } from './search-tables.js';

/** Where the search index of a database is. */
export class SearchPlace {
  readonly #naming: Naming;
  readonly #path: string;
  readonly table: Sql;
  /** Of SQLite. */
  readonly words: Sql;

  /** @param creates whether the store may make it */
  constructor(
    private readonly dataSource: DataSource,
    private readonly creates: boolean,
  ) {
    this.#naming = namingOf(dataSource);
    this.#path = formatTablePath(this.#naming, SEARCH);
    this.table = new Sql(this.#path);
    this.words = new Sql(formatTablePath(this.#naming, SEARCH_WORDS));
  }

  /** Makes the index if it is not there. Several processes may do so at the same time. */
  async prepare(transactions: Transactions): Promise<void> {
    if (await this.isThere()) return;
    if (!this.creates) throw new ConfigurationError([MISSING]);
    await transactions.write(async (transaction) => {
      if (transaction.dialect.name === 'postgres') {
        await transaction.rows(sql`SELECT pg_advisory_xact_lock(hashtext(${this.#path}))`);
      }
      for (const statement of createSearch(this.#naming)) await transaction.change(new Sql(statement));
    });
  }

  isThere(): Promise<boolean> {
    return hasColumns(this.#path, SEARCH_COLUMNS, (query) => this.dataSource.query(query));
  }
}

const MISSING =
  'The database lacks the tables of the search index: add SEARCH_MIGRATIONS to the migrations of the DataSource and run them, or let a process that may create tables start the search.';
