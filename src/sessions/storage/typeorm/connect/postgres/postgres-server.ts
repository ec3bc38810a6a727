import type { DataSource, QueryRunner } from 'typeorm';
import { ConfigurationError } from '../../../../../config/configuration-error.js';
import { migrationsTableName, SESSION_MIGRATIONS } from '../../schema/migrations.js';
import { dataSourceOf } from '../../tables.js';
import type { DriverStream, ErrorEmitter, ConnectionTracker } from '../connection-pool.js';
import { namingStandby } from './standby.js';
import { type RunQuery, migrateOnOneConnection, type ServerAddress, type ServerKind } from '../server-kind.js';

export const APPLICATION_NAME = 'nestjs-agent-sessions';

const DEFAULT_POOL_SIZE = 10;
/** A locked session must not delay the other appends of its batch for long. */
const LOCK_TIMEOUT_MS = 1_000;
const MIGRATION_LIMIT_MS = 30_000;

/** A PostgreSQL server with a connection pool of the store. */
export const postgresServer: ServerKind = {
  dataSourceOptions({
    url,
    tablePrefix,
    schema,
    poolSize = DEFAULT_POOL_SIZE,
    timeLimitMs,
    tls,
    pooler,
    driverOptions,
  }) {
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
      applicationName: APPLICATION_NAME,
      extra: {
        pipeline: true,
        ...encryption(url, tls),
        keepAlive: true,
        idleTimeoutMillis: 60_000,
        // A pooler refuses them, as they would stay on a connection that others get.
        ...(pooler === undefined && {
          statement_timeout: timeLimitMs,
          lock_timeout: LOCK_TIMEOUT_MS,
          idle_in_transaction_session_timeout: 2 * timeLimitMs,
        }),
        ...driverOptions,
      },
    };
  },

  trackConnections,

  check: checkPostgres,

  async migrate(dataSource) {
    await migrateOnOneConnection(dataSource, async (runner, migrate) => {
      // Overrides the defaults of the server.
      await namingStandby(runner.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'));
      try {
        // The limits for appends are too short here.
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

/** TLS of a client. Without `ssl`, pg reads PGSSLMODE. */
export function encryption(url: string, tls: ServerAddress['tls']): { readonly ssl?: object | false } {
  return tls === undefined ? {} : { ssl: tls && { ...tls, host: hostIn(url) } };
}

/** The host that the certificate must match. pg does not pass IP addresses on. */
function hostIn(url: string): string {
  const { hostname, searchParams } = new URL(url);
  return (searchParams.get('host') ?? hostname).replaceAll(/^\[|\]$/g, '');
}

/** Needs the right to create schemas only if the schema does not exist. */
async function ensureSchema(runner: QueryRunner, schema: string): Promise<void> {
  const found: unknown[] = await runner.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (found.length === 0) await runner.query(`CREATE SCHEMA ${dataSourceOf(runner).driver.escape(schema)}`);
}

function lockName({ options }: DataSource): string {
  const { schema = '', entityPrefix = '' } = options as { schema?: string; entityPrefix?: string };
  return `agent_sessions ${schema} ${entityPrefix}`;
}

export async function checkPostgres(runQuery: RunQuery): Promise<void> {
  const [{ server_encoding: encoding } = { server_encoding: '' }] = await runQuery<{ server_encoding: string }>(
    'SHOW server_encoding',
  );
  if (encoding !== 'UTF8') {
    throw new ConfigurationError([
      `The database has the encoding ${encoding}, which cannot hold every text: create it with ENCODING 'UTF8'.`,
    ]);
  }
}

type Client = ErrorEmitter & { readonly connection?: { readonly stream?: DriverStream } };
type ClientClass = new (options: unknown) => Client;

/** Tracks clients from their creation, because pg emits errors at moments when neither its pool nor TypeORM listens. */
function trackConnections({ driver, options }: DataSource, connections: ConnectionTracker): void {
  const { postgres } = driver as unknown as { postgres: { Client: ClientClass } };
  const extra = options.extra as { Client?: ClientClass };
  const Base = extra.Client ?? postgres.Client;
  extra.Client = class extends Base {
    constructor(clientOptions: unknown) {
      super(clientOptions);
      connections.track(this, () => this.connection?.stream);
    }
  };
}
