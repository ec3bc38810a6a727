import Libsql from 'libsql';
import { DataSource } from 'typeorm';
import { SESSION_MIGRATIONS } from '../../src/typeorm.js';
import { SqlBench } from './sql-bench.js';
import { type SqlServer, sqlServers } from './sql-servers.js';
import { SqliteFile } from './sqlite-file.js';
import { chosenStoreNames } from './store-names.js';

type Row = Readonly<Record<string, unknown>>;

/** A database of an app, with a table of its own. */
export interface AppDatabase {
  readonly name: string;
  /** Opens it as another process of the app would. `fast`: one connection, which sends several statements at once. */
  connect(how?: 'fast'): Promise<DataSource>;
  /** Reads what is committed. */
  committed(query: string): Promise<readonly Row[]>;
  close(): Promise<void>;
}

async function serverDatabase(server: SqlServer): Promise<AppDatabase> {
  const bench = await SqlBench.open(server);
  const { url, driverOptions } = bench.database.storageOptions;
  const raw = await bench.connect();
  return {
    name: server.name,
    async connect(how) {
      const isFast = how === 'fast';
      const shared = { url, migrations: [...SESSION_MIGRATIONS], ...(isFast && { poolSize: 1 }) };
      const mysql = { charset: 'utf8mb4', multipleStatements: isFast, extra: driverOptions };
      const dataSource =
        server.name === 'postgres'
          ? new DataSource({ ...shared, type: 'postgres', extra: { pipeline: isFast } })
          : new DataSource({ ...shared, type: 'mysql', ...mysql });
      bench.closeInTheEnd(() => dataSource.destroy());
      return dataSource.initialize();
    },
    committed: (query) => raw.query(query),
    close: () => bench.close(),
  };
}

async function sqliteDatabase(): Promise<AppDatabase> {
  const file = new SqliteFile();
  const opened: DataSource[] = [];
  const raw = new Libsql(file.path);
  raw.exec('PRAGMA journal_mode = WAL');
  return {
    name: 'sqlite',
    async connect() {
      const dataSource = new DataSource({
        type: 'better-sqlite3',
        driver: Libsql,
        database: file.path,
        migrations: [...SESSION_MIGRATIONS],
        timeout: 5,
      });
      opened.push(dataSource);
      return dataSource.initialize();
    },
    committed: async (query) => raw.prepare(query).all() as Row[],
    async close() {
      for (const dataSource of opened) await dataSource.destroy();
      raw.close();
      await file.remove();
    },
  };
}

/** Those that `STORES` does not leave out. */
export const appDatabases: readonly (readonly [name: string, open: () => Promise<AppDatabase>])[] = [
  ...sqlServers.map((server) => [server.name, () => serverDatabase(server)] as const),
  ['sqlite', sqliteDatabase] as const,
].filter(([name]) => chosenStoreNames().includes(name));
