import type { ConnectionOptions } from 'node:tls';
import { type DataSource, type DataSourceOptions, MigrationExecutor, type QueryRunner } from 'typeorm';
import type { ServerOptions } from '../typeorm-options.js';
import type { ConnectionTracker } from './connection-pool.js';

/** Options of a server with defaults and TLS resolved. */
export type ServerAddress = Omit<ServerOptions, 'tls'> & {
  readonly timeLimitMs: number;
  /** `false`: no TLS. `undefined`: the driver decides. */
  readonly tls?: ConnectionOptions | false | undefined;
};

/** Runs a query and returns its rows. */
export type RunQuery = <Row>(query: string) => Promise<Row[]>;

/** How to open one kind of server. */
export interface ServerKind {
  dataSourceOptions(address: ServerAddress): DataSourceOptions;
  /** Tracks the connections that the pool of a DataSource will create. Called before the DataSource is initialised. */
  trackConnections(dataSource: DataSource, connections: ConnectionTracker): void;
  /** Refuses a server that would change stored text. */
  check(runQuery: RunQuery): Promise<void>;
  /** Runs the migrations. If several processes try, one migrates and the others wait. */
  migrate(dataSource: DataSource): Promise<void>;
  /** Statements for every new connection. */
  readonly settings?: readonly string[];
}

/** Runs pending migrations on one connection, on which `work` first takes a lock. */
export async function migrateOnOneConnection(
  dataSource: DataSource,
  work: (runner: QueryRunner, migrate: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.connect();
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'none';
    await work(runner, () => executor.executePendingMigrations());
  } finally {
    await runner.release();
  }
}
