import type { DataSource } from 'typeorm';
import { ConfigurationError } from '../../../../config/configuration-error.js';
import { StoreUnavailableError } from '../../../domain/errors.js';
import { SESSION_MIGRATIONS, migrationsTableName } from '../migrations/index.js';
import type { ServerKind } from '../servers/server-kind.js';
import { onOneConnection } from '../servers/run-migrations.js';

const DEFAULT_POOL_SIZE = 10;
const MIGRATION_LIMIT_SECONDS = 30;
const ALL_ROWS = '18446744073709551615';

/** Whatever the server is set to: these decide what becomes of a statement. */
const SETTINGS = [
  [
    // So that one session that somebody else holds for long does not hold up those that share a transaction with it.
    'SET SESSION innodb_lock_wait_timeout = 1',
    // A commit ends a transaction and begins no other one, and nothing begins one by itself.
    'completion_type = 0',
    'autocommit = 1',
    `sql_select_limit = ${ALL_ROWS}`,
    "sql_mode = 'STRICT_ALL_TABLES'",
  ].join(', '),
  'SET SESSION TRANSACTION READ WRITE',
];

/** A MySQL or MariaDB server of which the store has connections of its own. */
export const mysqlServer: ServerKind = {
  dataSourceOptions({ url, tablePrefix, poolSize = DEFAULT_POOL_SIZE, timeLimitMs, driverOptions }) {
    return {
      type: 'mysql',
      url: url.replace(/^mariadb:/i, 'mysql:'),
      charset: 'utf8mb4',
      entityPrefix: tablePrefix,
      migrations: [...SESSION_MIGRATIONS],
      migrationsTableName: migrationsTableName(tablePrefix),
      logging: false,
      connectTimeout: timeLimitMs,
      multipleStatements: true,
      poolSize,
      extra: {
        enableKeepAlive: true,
        keepAliveInitialDelay: 10_000,
        maxIdle: poolSize,
        idleTimeout: 60_000,
        ...driverOptions,
      },
    };
  },

  check: checkMysql,

  async migrate(dataSource) {
    await onOneConnection(dataSource, async (runner, migrate) => {
      for (const setting of SETTINGS) await runner.query(setting);
      // Names of locks are shared by all databases of a server, and short.
      const name = "CONCAT('agent_sessions ', MD5(CONCAT(DATABASE(), ?)))";
      const prefix = [dataSource.options.entityPrefix ?? ''];
      const answer: unknown = await runner.query(`SELECT GET_LOCK(${name}, ${MIGRATION_LIMIT_SECONDS}) AS got`, prefix);
      const [lock] = answer as { got: string | number | null }[];
      if (Number(lock?.got) !== 1) {
        throw new StoreUnavailableError('Another process has been changing the tables of sessions for long.', false);
      }
      try {
        await migrate();
      } finally {
        await runner.query(`SELECT RELEASE_LOCK(${name})`, prefix);
      }
    });
  },

  settings: SETTINGS,
};

/** What own connections are told, and those of the app cannot be: it would hold for whatever else the app does. */
export async function checkHostMysql(dataSource: DataSource): Promise<void> {
  await checkMysql(dataSource);
  const [found] = await dataSource.query<[Record<string, string | number>]>(`
    SELECT @@SESSION.autocommit = 0 AS 'autocommit', @@SESSION.completion_type <> 'NO_CHAIN' AS 'completion_type',
      @@SESSION.sql_select_limit < ${ALL_ROWS} AS 'sql_select_limit',
      @@SESSION.sql_mode LIKE '%EMPTY_STRING_IS_NULL%' AS 'EMPTY_STRING_IS_NULL of sql_mode'`);
  const changed = Object.keys(found).filter((name) => Number(found[name]) === 1);
  if (changed.length === 0) return;
  throw new ConfigurationError([
    `The connections of the DataSource change what statements mean: set ${changed.join(', ')} back to the default.`,
  ]);
}

/** Text is sent with backslashes before quotes, and as UTF-8: a server that takes either for something else is refused. */
export async function checkMysql(dataSource: DataSource): Promise<void> {
  const [{ mode, charset }] = await dataSource.query<[{ mode: string; charset: string }]>(
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
