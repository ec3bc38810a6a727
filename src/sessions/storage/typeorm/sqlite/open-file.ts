import type { DataSource } from 'typeorm';
import { type Clock, systemClock } from '../../../domain/clock.js';
import { CoalescedAppends } from '../coalesced-appends.js';
import type { OpenDatabase } from '../lazy-database.js';
import { SqliteTransactions } from './sqlite-transactions.js';

export interface FileUse {
  readonly timeLimitMs: number;
  readonly coalesceAppends?: boolean | undefined;
  /** This machine's unless given. */
  readonly clock?: Clock | undefined;
  readonly close: () => Promise<void>;
}

/** The store over a DataSource of SQLite that is initialised and has the tables. */
export function openFile(
  dataSource: DataSource,
  { timeLimitMs, coalesceAppends: isOn = true, clock = systemClock, close }: FileUse,
): OpenDatabase {
  const transactions = new SqliteTransactions(dataSource, { clock, timeLimitMs });
  // One lane, since the file takes one writer at a time.
  return { transactions, appends: new CoalescedAppends(transactions, { lanes: 1, slowLanes: 1, isOn }), close };
}
