import type { DataSource, QueryRunner } from 'typeorm';
import type { Clock } from '../../../domain/process/clock.js';
import { appTransactionsOf } from '../append/append-within.js';
import { formatChannelName, PostgresNotifications, PostgresFeed } from '../live/postgres-feed.js';
import { type ListeningClient, newListeningClient } from '../live/postgres-listener.js';
import { SearchPlace } from '../search/search-place.js';
import { dialectOf } from '../sql/dialect.js';
import { sessionsKeyOf, tableNamesOf, tablesOf } from '../tables.js';
import type { ConnectionPool, PooledConnection } from './connection-pool.js';
import type { OpenDatabase } from './lazy-database.js';
import { type DriverConnection, lentMysqlConnection, type MysqlDriver, MysqlPool } from './mysql/mysql-connection.js';
import { databaseTimedOut } from './driver-errors.js';
import { PooledTransactions } from './pooled-transactions.js';
import { poolerWarnings } from './postgres/pooler.js';
import {
  type DriverClient,
  lentPostgresConnection,
  type PostgresDriver,
  PostgresPool,
} from './postgres/postgres-connection.js';

interface PooledDatabaseOptions {
  readonly timeLimitMs: number;
  readonly clock?: Clock | undefined;
  /** Statements for every new connection that only the store uses. */
  readonly settings?: readonly string[] | undefined;
  /** Host and port, for error messages. */
  readonly server?: string | undefined;
  /** PostgreSQL only. */
  readonly usesPreparedStatements?: boolean | undefined;
  /** PostgreSQL only: how watches learn of news, if not over a connection like those of the pool. */
  readonly listening?: 'never' | (() => ListeningClient) | undefined;
  /** Whether the DataSource is the app's, which has transactions of its own. */
  readonly isOfApp?: boolean | undefined;
  /** Whether the store may create tables. */
  readonly creates?: boolean | undefined;
  readonly close: () => Promise<void>;
}

/** Opens the store on an initialised DataSource that has the tables. */
export function openPooledDatabase(dataSource: DataSource, { close, ...use }: PooledDatabaseOptions): OpenDatabase {
  const dialect = dialectOf(dataSource.options.type);
  const { clock, timeLimitMs, server, isOfApp = false } = use;
  const { listening = () => newListeningClient(dataSource.driver, timeLimitMs) } = use;
  const channel = dialect.name === 'postgres' ? formatChannelName(tableNamesOf(dataSource).sessions) : undefined;
  const notifications = channel === undefined ? undefined : new PostgresNotifications(channel);
  const [tables, sessionsKey] = [tablesOf(dataSource), sessionsKeyOf(dataSource)];
  const context = { dialect, tables, sessionsKey, notifications, clock, timeLimitMs, server };
  const transactions = new PooledTransactions(connectionPoolOf(dataSource, use), context);
  const appTransactions = isOfApp
    ? appTransactionsOf({
        dataSource,
        context,
        clock,
        timeLimitMs,
        transactions,
        borrow: (runner) => lentConnection(dataSource, runner, clock === undefined),
      })
    : undefined;
  const feed =
    channel === undefined || listening === 'never'
      ? undefined
      : new PostgresFeed({ newClient: listening, channel, timeoutMs: timeLimitMs });
  const closeAll = async (): Promise<void> => {
    appTransactions?.close();
    await close();
  };
  const search = new SearchPlace(dataSource, use.creates ?? false);
  const warnings =
    dialect.name === 'postgres'
      ? () =>
          poolerWarnings(dataSource.driver, {
            canBeSaid: !isOfApp && use.listening === undefined,
            late: () => databaseTimedOut(timeLimitMs, false, server),
            timeLimitMs,
          })
      : undefined;
  return { transactions, appTransactions, search, close: closeAll, feed, warnings };
}

/** The connection of a query runner of the app. */
async function lentConnection(
  { options }: DataSource,
  runner: QueryRunner,
  withTime: boolean,
): Promise<PooledConnection> {
  const connection: unknown = await runner.connect();
  return options.type === 'postgres'
    ? lentPostgresConnection(connection as DriverClient, withTime)
    : lentMysqlConnection(connection as DriverConnection, withTime);
}

/** The connection pool of an initialised DataSource. */
export function connectionPoolOf(
  { driver, options }: DataSource,
  {
    clock,
    settings,
    usesPreparedStatements = false,
  }: Pick<PooledDatabaseOptions, 'clock' | 'settings' | 'usesPreparedStatements'>,
): ConnectionPool {
  const withTime = clock === undefined;
  return options.type === 'postgres'
    ? new PostgresPool(driver as PostgresDriver, { withTime, usesPreparedStatements })
    : new MysqlPool(driver as MysqlDriver, { withTime, settings });
}
