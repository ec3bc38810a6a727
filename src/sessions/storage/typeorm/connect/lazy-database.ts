import type { ChangeFeed } from '../../session-changes.js';
import type { DirectWrites } from '../append/direct-writes.js';
import type { WrittenAppend } from '../append/append-within.js';
import type { SearchPlace } from '../search/search-place.js';
import type { Transactions } from '../sql/transaction.js';
import type { AppTransactions } from './app-transactions.js';
import { storeClosed } from '../../../domain/errors/store-closed.js';

/** An open database. */
export interface OpenDatabase {
  readonly transactions: Transactions & DirectWrites;
  /** Transactions of the app, on its DataSource. */
  readonly appTransactions?: AppTransactions<WrittenAppend> | undefined;
  /** Notifications of the database, if it has them. */
  readonly feed?: (ChangeFeed & { close(): void }) | undefined;
  readonly search: SearchPlace;
  /** What about the server endangers sessions. */
  readonly warnings?: (() => Promise<readonly string[]>) | undefined;
  /** Called after all transactions have ended. */
  close(): Promise<void>;
}

/** Opens a database at the first call. After a failure, the next call tries again. */
export class LazyDatabase {
  #opening: Promise<OpenDatabase> | undefined;
  #feed: ChangeFeed | undefined;
  #isClosed = false;

  constructor(private readonly openIt: () => Promise<OpenDatabase>) {}

  /** Defined once the database is open. */
  get feed(): ChangeFeed | undefined {
    return this.#feed;
  }

  open(): Promise<OpenDatabase> {
    if (this.#isClosed) throw storeClosed();
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Waits for running operations. A second call does nothing. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.#isClosed = true;
    this.#opening = undefined;
    const database = await opening?.catch(() => undefined);
    if (!database) return;
    database.feed?.close();
    await database.transactions.finished();
    await database.close();
  }

  async #open(): Promise<OpenDatabase> {
    const database = await this.openIt();
    this.#feed = database.feed;
    return database;
  }
}
