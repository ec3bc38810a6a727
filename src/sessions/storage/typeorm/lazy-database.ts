import { StoreUnavailableError } from '../../domain/errors.js';
import type { ChangeFeed } from '../session-changes.js';
import type { CoalescedAppends } from './coalesced-appends.js';
import type { Transactions } from './sql-transaction.js';

/** What an open database offers. */
export interface OpenDatabase {
  readonly transactions: Transactions;
  readonly appends: CoalescedAppends;
  /** Where the database tells what happens. */
  readonly feed?: (ChangeFeed & { close(): void }) | undefined;
  /** Called once nothing is under way any more. */
  close(): Promise<void>;
}

/** Opens a database once, when it is first needed; where that fails, the next call tries again. */
export class LazyDatabase {
  #opening: Promise<OpenDatabase> | undefined;
  #feed: ChangeFeed | undefined;
  #isClosed = false;

  constructor(private readonly openIt: () => Promise<OpenDatabase>) {}

  /** That of the database, once it is open. */
  get feed(): ChangeFeed | undefined {
    return this.#feed;
  }

  open(): Promise<OpenDatabase> {
    if (this.#isClosed) throw new StoreUnavailableError('The session store is closed.', false);
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Waits for what is under way. A second close does nothing. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.#isClosed = true;
    this.#opening = undefined;
    const database = await opening?.catch(() => undefined);
    if (!database) return;
    database.feed?.close();
    await database.appends.finished();
    await database.transactions.finished();
    await database.close();
  }

  async #open(): Promise<OpenDatabase> {
    const database = await this.openIt();
    this.#feed = database.feed;
    return database;
  }
}
