import { isIP } from 'node:net';
import type { DataSource } from 'typeorm';
import { ConfigurationError } from '../../../../../config/configuration-error.js';
import { migrationsTableName, SESSION_MIGRATIONS } from '../../schema/migrations.js';
import type { DriverStream, ErrorEmitter, ConnectionTracker } from '../connection-pool.js';
import type { RunQuery, ServerKind } from '../server-kind.js';
import { migrateMysql } from './migrate-mysql.js';

const DEFAULT_POOL_SIZE = 10;
const ALL_ROWS = '18446744073709551615';

/** Session settings that override the server's, because they change what statements do. */
const SETTINGS = [
  [
    // A locked session must not delay the other appends of its batch for long.
    'SET SESSION innodb_lock_wait_timeout = 1',
    // COMMIT must not begin another transaction.
    'completion_type = 0',
    'autocommit = 1',
    `sql_select_limit = ${ALL_ROWS}`,
    "sql_mode = 'STRICT_ALL_TABLES'",
  ].join(', '),
  'SET SESSION TRANSACTION READ WRITE',
];

/** A MySQL or MariaDB server with a connection pool of the store. */
export const mysqlServer: ServerKind = {
  dataSourceOptions({ url, tablePrefix, poolSize = DEFAULT_POOL_SIZE, timeLimitMs, tls, driverOptions }) {
    return {
      type: 'mysql',
      charset: 'utf8mb4',
      entityPrefix: tablePrefix,
      migrations: [...SESSION_MIGRATIONS],
      migrationsTableName: migrationsTableName(tablePrefix),
      logging: false,
      connectTimeout: timeLimitMs,
      multipleStatements: true,
      poolSize,
      extra: {
        // TypeORM would not decode the name of a database, nor understand an IPv6 address.
        uri: url,
        enableKeepAlive: true,
        keepAliveInitialDelay: 10_000,
        maxIdle: poolSize,
        idleTimeout: 60_000,
        ...(tls && { ssl: { ...tls, verifyIdentity: !tls.checkServerIdentity } }),
        ...driverOptions,
      },
    };
  },

  trackConnections,

  check: checkMysql,

  migrate: (dataSource) => migrateMysql(dataSource, SETTINGS),

  settings: SETTINGS,
};

/** Checks settings that the store sets on its own connections but must not change on connections of the app. */
export async function checkHostMysql(runQuery: RunQuery): Promise<void> {
  await checkMysql(runQuery);
  const [found = {}] = await runQuery<Record<string, string | number>>(`
    SELECT @@SESSION.autocommit = 0 AS 'autocommit', @@SESSION.completion_type <> 'NO_CHAIN' AS 'completion_type',
      @@SESSION.sql_select_limit < ${ALL_ROWS} AS 'sql_select_limit',
      @@SESSION.sql_mode LIKE '%EMPTY_STRING_IS_NULL%' AS 'EMPTY_STRING_IS_NULL of sql_mode'`);
  const changed = Object.keys(found).filter((name) => Number(found[name]) === 1);
  if (changed.length === 0) return;
  throw new ConfigurationError([
    `The connections of the DataSource change what statements do: set ${changed.join(', ')} back to the default.`,
  ]);
}

/** The driver escapes quotes with backslashes and sends UTF-8, so the server must accept both. */
async function checkMysql(runQuery: RunQuery): Promise<void> {
  const [{ mode, charset } = { mode: '', charset: '' }] = await runQuery<{ mode: string; charset: string }>(
    'SELECT @@SESSION.sql_mode AS mode, @@SESSION.character_set_client AS charset',
  );
  if (mode.includes('NO_BACKSLASH_ESCAPES')) {
    throw new ConfigurationError(['The database runs in the mode NO_BACKSLASH_ESCAPES: take it out of sql_mode.']);
  }
  if (charset !== 'utf8mb4') {
    throw new ConfigurationError([
      `The connection to the database uses the character set ${charset}: set charset: 'utf8mb4' in its options.`,
    ]);
  }
}

type Connection = ErrorEmitter & {
  readonly stream?: DriverStream;
  readonly config?: { readonly host?: string; readonly ssl?: unknown };
};

/** The part of a mysql2 pool that is used here. */
interface Pool {
  getConnection: (done: (error: Error | null, connection: Connection) => void) => void;
  /** Includes connections that are not open yet. */
  readonly _allConnections?: { readonly length: number; get(index: number): Connection | undefined };
}

interface Mysql {
  createPool(options: unknown): Pool;
}

/**
 * Tracks connections from their creation, because mysql2 handles only the first error of each and may emit more. It also
 * closes connections that fail to open, which mysql2 does not.
 */
function trackConnections({ driver }: DataSource, connections: ConnectionTracker): void {
  const holder = driver as unknown as { mysql: Mysql };
  const { mysql } = holder;
  const createPool = (options: unknown): Pool => tracked(mysql.createPool(options), connections);
  holder.mysql = Object.create(mysql, { createPool: { value: createPool } }) as Mysql;
}

function tracked(pool: Pool, connections: ConnectionTracker): Pool {
  const known = new WeakSet<Connection>();
  const getConnection = pool.getConnection.bind(pool);
  pool.getConnection = (done) => {
    let made: Connection | undefined;
    getConnection((error, connection) => {
      if (error) made?.stream?.destroy();
      done(error, connection);
    });
    // If the pool has just created a connection, it is the last one.
    const { _allConnections: all } = pool;
    const newest = all?.get(all.length - 1);
    if (!newest || known.has(newest)) return;
    known.add(newest);
    made = newest;
    connections.track(newest, () => newest.stream);
    setTlsHost(newest);
  };
  return pool;
}

/**
 * Sets the host that the certificate must match. mysql2 does not pass IP addresses on, and Node would then accept a
 * certificate for `localhost`.
 */
function setTlsHost({ stream, config: { host, ssl } = {} }: Connection): void {
  if (stream && ssl && host !== undefined && isIP(host) !== 0) Object.assign(stream, { _host: host });
}
