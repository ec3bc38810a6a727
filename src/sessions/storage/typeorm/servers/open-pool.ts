import type { DataSource } from 'typeorm';
import type { Clock } from '../../../domain/clock.js';
import { CoalescedAppends } from '../coalesced-appends.js';
import { dialectOf } from '../dialects.js';
import type { OpenDatabase } from '../lazy-database.js';
import { MysqlPool } from '../mysql/mysql-connection.js';
import { PostgresAnnouncements, channelOf } from '../postgres/postgres-announcements.js';
import { PostgresPool } from '../postgres/postgres-connection.js';
import { PostgresFeed } from '../postgres/postgres-feed.js';
import { type ListeningClient, listeningClientOf } from '../postgres/postgres-ear.js';
import { sessionsKeyOf, tableNamesOf, tablesOf } from '../tables.js';
import type { ConnectionPool } from './pooled-connection.js';
import { PooledTransactions } from './pooled-transactions.js';

export interface PoolUse {
  readonly timeLimitMs: number;
  readonly coalesceAppends?: boolean | undefined;
  readonly clock?: Clock | undefined;
  /** Said to every connection that is ours alone. */
  readonly settings?: readonly string[] | undefined;
  /** Whether the server may remember statements by name; PostgreSQL only. */
  readonly isPreparing?: boolean | undefined;
  readonly close: () => Promise<void>;
}

const USUAL_POOL_SIZE = 10;

/** Of ten connections four for appends, since more would only wait for the same disk, and three for those that wait for locks. */
function lanesOf({ options }: DataSource): { lanes: number; slowLanes: number } {
  const connections = ('poolSize' in options ? options.poolSize : undefined) ?? USUAL_POOL_SIZE;
  return { lanes: Math.max(1, Math.floor(connections * 0.4)), slowLanes: Math.max(1, Math.floor(connections * 0.3)) };
}

/** The store over a DataSource that is initialised and has the tables. */
export function openPool(dataSource: DataSource, { close, ...use }: PoolUse): OpenDatabase {
  const dialect = dialectOf(dataSource.options.type);
  const { clock, timeLimitMs } = use;
  const channel = dialect.name === 'postgres' ? channelOf(tableNamesOf(dataSource).sessions) : undefined;
  const announcements = channel === undefined ? undefined : new PostgresAnnouncements(channel);
  const [tables, sessionsKey] = [tablesOf(dataSource), sessionsKeyOf(dataSource)];
  const facts = { dialect, tables, sessionsKey, announcements, clock, timeLimitMs };
  const transactions = new PooledTransactions(poolOf(dataSource, use), facts);
  const newClient = (): ListeningClient => listeningClientOf(dataSource.driver, timeLimitMs);
  const feed = channel === undefined ? undefined : new PostgresFeed({ newClient, channel, timeoutMs: timeLimitMs });
  const appends = new CoalescedAppends(transactions, { ...lanesOf(dataSource), isOn: use.coalesceAppends ?? true });
  return { transactions, appends, close, feed };
}

function poolOf(
  { driver, options }: DataSource,
  { clock, settings, isPreparing = false }: Omit<PoolUse, 'close'>,
): ConnectionPool {
  const withTime = clock === undefined;
  return options.type === 'postgres'
    ? new PostgresPool(driver, { withTime, isPreparing })
    : new MysqlPool(driver, { withTime, settings });
}
