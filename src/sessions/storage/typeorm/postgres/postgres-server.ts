import type { DataSource, QueryRunner } from 'typeorm';
import { ConfigurationError } from '../../../../config/configuration-error.js';
import { SESSION_MIGRATIONS, migrationsTableName } from '../migrations/index.js';
import { onOneConnection } from '../servers/run-migrations.js';
import type { ServerKind } from '../servers/server-kind.js';

const DEFAULT_POOL_SIZE = 10;
/** So that one session that somebody else holds for long does not hold up those that share a transaction with it. */
const LOCK_TIMEOUT_MS = 1_000;
const MIGRATION_LIMIT_MS = 30_000;

/** A PostgreSQL server of which the store has connections of its own. */
export const postgresServer: ServerKind = {
  dataSourceOptions({ url, tablePrefix, schema, poolSize = DEFAULT_POOL_SIZE, timeLimitMs, driverOptions }) {
    return {
      type: 'postgres',
      url,
      ...(schema && { schema }),
      entityPrefix: tablePrefix,
      migrations: [...SESSION_MIGRATIONS],
      migrationsTableName: migrationsTableName(tablePrefix),
      logging: false,
      poolSize,
      connectTimeoutMS: timeLimitMs,
      applicationName: 'nestjs-agent-sessions',
      extra: {
        pipeline: true,
        keepAlive: true,
        idleTimeoutMillis: 60_000,
        statement_timeout: timeLimitMs,
        lock_timeout: LOCK_TIMEOUT_MS,
        idle_in_transaction_session_timeout: 2 * timeLimitMs,
        ...driverOptions,
      },
    };
  },

  check: checkPostgres,

  async migrate(dataSource) {
    await onOneConnection(dataSource, async (runner, migrate) => {
      // Whatever transactions are by default.
      await runner.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
      try {
        // Limits that are right for an append are too tight for whoever waits here.
        await runner.query(`SET LOCAL lock_timeout = ${MIGRATION_LIMIT_MS}`);
        await runner.query(`SET LOCAL statement_timeout = ${MIGRATION_LIMIT_MS}`);
        await runner.query('SELECT pg_advisory_xact_lock(hashtext($1))', [lockName(dataSource)]);
        const { schema } = dataSource.options as { schema?: string };
        if (schema) await ensureSchema(runner, schema);
        await migrate();
        await runner.query('COMMIT');
      } catch (error) {
        await runner.query('ROLLBACK').catch(() => undefined);
        throw error;
      }
    });
  },
};

/** Whoever may not make schemas may use one that is there. */
async function ensureSchema(runner: QueryRunner, schema: string): Promise<void> {
  const found: unknown[] = await runner.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (found.length === 0) await runner.query(`CREATE SCHEMA ${runner.dataSource.driver.escape(schema)}`);
}

function lockName({ options }: DataSource): string {
  const { schema = '', entityPrefix = '' } = options as { schema?: string; entityPrefix?: string };
  return `agent_sessions ${schema} ${entityPrefix}`;
}

export async function checkPostgres(dataSource: DataSource): Promise<void> {
  const [{ server_encoding: encoding }] = await dataSource.query<[{ server_encoding: string }]>('SHOW server_encoding');
  if (encoding !== 'UTF8') {
    throw new ConfigurationError([
      `The database has the encoding ${encoding}, which cannot hold every text: create it with ENCODING 'UTF8'.`,
    ]);
  }
}
