import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import type { TypeOrmSessionStorageOptions } from '../../src/typeorm.js';
import { isFastLayer } from './layer.js';
import { isEveryStoreWanted } from './rounds.js';
import { type SqlServer, mariaDbServer, postgresServer } from './sql-servers.js';
import type { StoreName } from './store-names.js';

/** A database, and a hand at it. */
export interface SqlBench {
  readonly options: TypeOrmSessionStorageOptions;
  run(statement: string): Promise<void>;
  rows(statement: string): Promise<readonly Record<string, unknown>[]>;
  destroy(): Promise<void>;
}

async function sqliteBench(): Promise<SqlBench> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-sessions-'));
  const database = join(folder, 'sessions.db');
  let connection: Libsql.Database | undefined;
  return {
    options: { database },
    async run(statement) {
      connection ??= new Libsql(database);
      connection.exec(`PRAGMA foreign_keys = OFF; ${statement}`);
    },
    async rows(statement) {
      connection ??= new Libsql(database);
      return connection.prepare(statement).all() as Record<string, unknown>[];
    },
    async destroy() {
      connection?.close();
      await rm(folder, { recursive: true });
    },
  };
}

const benchOf = (server: SqlServer, withoutKeys: string) => async (): Promise<SqlBench> => {
  const database = await server.createDatabase();
  const connection = await database.connect();
  return {
    options: database.storageOptions,
    async run(statement) {
      await connection.query(`${withoutKeys}; ${statement}`);
    },
    rows: (statement) => connection.query(statement),
    async destroy() {
      await connection.close();
      await database.drop();
    },
  };
};

export const SQL_BENCHES: readonly { readonly name: StoreName; readonly open: () => Promise<SqlBench> }[] = [
  { name: 'sqlite', open: sqliteBench },
  { name: 'mariadb', open: benchOf(mariaDbServer, 'SET FOREIGN_KEY_CHECKS = 0') },
  { name: 'postgres', open: benchOf(postgresServer, 'SET session_replication_role = replica') },
];

/** Those of a file and of a server in the fast layer, otherwise all: for what is read in the same way from all of them. */
export const sqlBenchOfEachKind =
  isFastLayer && !isEveryStoreWanted ? SQL_BENCHES.filter(({ name }) => name !== 'mariadb') : SQL_BENCHES;
