import { readFileSync, writeFileSync } from 'node:fs';
import { DataSource, type DataSourceOptions } from 'typeorm';
import Libsql from 'libsql';
import { ConfigurationError, SessionService } from '../../src/index.js';
import type { Clock } from '../../src/sessions/domain/process/clock.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { describeSessionStorage } from '../../src/testing/index.js';
import { SESSION_MIGRATIONS, TypeOrmSessionStorage, sessionEntities } from '../../src/typeorm.js';
import { mysqlOptionsOf } from '../servers/mysql-login.js';
import { EMPTY_TABLES, readRawTables } from '../support/sql-raw-data.js';
import { type ReusableStore, reusedStores } from '../support/reused-stores.js';
import { isEveryStoreWanted } from '../support/rounds.js';
import { SqlBench, describeSqlServers } from '../support/sql-bench.js';
import { type SqlServer, mariaDbServer, sqlServers } from '../support/sql-servers.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { readRaw } from '../support/sqlite-store.js';
import { chosenStoreNames } from '../support/store-names.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

/** A DataSource of an app, without the settings that the store uses for its own connections. */
function hostOptions(bench: SqlBench): DataSourceOptions {
  const { url, driverOptions } = bench.database.storageOptions;
  const shared = { migrations: [...SESSION_MIGRATIONS] };
  return bench.name === 'postgres'
    ? { ...shared, type: 'postgres', url, entities: sessionEntities('postgres') }
    : { ...shared, type: 'mysql', url, charset: 'utf8mb4', extra: driverOptions, entities: sessionEntities('mysql') };
}

async function openHost(bench: SqlBench, options: Partial<DataSourceOptions> = {}): Promise<DataSource> {
  const dataSource = new DataSource({ ...hostOptions(bench), ...options } as DataSourceOptions);
  await dataSource.initialize();
  bench.closeInTheEnd(() => dataSource.destroy());
  return dataSource;
}

/** A store over the DataSource of an app, which tests use one after the other. */
async function openedByHost(server: SqlServer, clock: Clock | undefined): Promise<ReusableStore> {
  const bench = await SqlBench.open(server);
  const dataSource = await openHost(bench);
  await dataSource.runMigrations();
  const raw = await bench.connect();
  return {
    storage: new TypeOrmSessionStorage({ dataSource, clock }),
    raw: () => readRawTables((table) => raw.query(`SELECT * FROM ${table}`)),
    async empty() {
      await raw.query(EMPTY_TABLES);
    },
    async remove() {
      expect(dataSource.isInitialized).toBe(true);
      await bench.close();
    },
  };
}

/** A file with the tables of an app. To copy it is much faster than to run all migrations. */
let migratedFile: Promise<Buffer> | undefined;

async function readMigratedFile(): Promise<Buffer> {
  const file = new SqliteFile();
  const dataSource = await openSqliteHost(file);
  await dataSource.runMigrations();
  await dataSource.destroy();
  const content = readFileSync(file.path);
  await file.remove();
  return content;
}

async function openSqliteHost({ path: database }: SqliteFile): Promise<DataSource> {
  const dataSource = new DataSource({
    type: 'better-sqlite3',
    driver: Libsql,
    database,
    migrations: [...SESSION_MIGRATIONS],
  });
  return dataSource.initialize();
}

async function openedBySqliteHost(clock: { now(): number }): Promise<OpenStorage> {
  const file = new SqliteFile();
  writeFileSync(file.path, await (migratedFile ??= readMigratedFile()));
  const dataSource = await openSqliteHost(file);
  const storage = new TypeOrmSessionStorage({ dataSource, clock });
  return {
    storage,
    raw: async () => readRaw(file.path),
    async destroy() {
      await storage.close();
      expect(dataSource.isInitialized).toBe(true);
      await dataSource.destroy();
      await file.remove();
    },
  };
}

/** The isolation that a DataSource has by default is stricter in MariaDB. */
const served = isEveryStoreWanted ? sqlServers : [mariaDbServer];

for (const server of served.filter(({ name }) => chosenStoreNames().includes(name))) {
  describeSessionStorage({
    name: `${server.name}, over a DataSource of the app,`,
    create: reusedStores((clock) => openedByHost(server, clock)),
  });
}
describeSessionStorage({
  name: 'sqlite, over a DataSource of the app,',
  create: ({ clock }) => openedBySqliteHost(clock),
});

describeSqlServers('A $name store with a DataSource of the app', (bench) => {
  it('leaves it open and finds existing data', async () => {
    const dataSource = await openHost(bench());
    await dataSource.runMigrations();
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource }) });
    await sessions.createSession({ ...KEY, state: { k: 1, 'app:k': 2 } });
    await sessions.close();
    const again = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource }) });
    expect((await again.getSession(KEY))?.state.toRecord()).toEqual({ k: 1, 'app:k': 2 });
    await again.close();
    expect(await dataSource.query('SELECT 1 AS one')).toHaveLength(1);
  });

  it('reports missing tables', async () => {
    const storage = new TypeOrmSessionStorage({ dataSource: await openHost(bench()) });
    await expectRefusal(storage, /lacks the tables of sessions: add SESSION_MIGRATIONS/);
  });

  it('reports missing columns', async () => {
    const dataSource = await openHost(bench());
    await dataSource.runMigrations();
    await dataSource.undoLastMigration();
    const storage = new TypeOrmSessionStorage({ dataSource });
    await expectRefusal(storage, /add SESSION_MIGRATIONS to its migrations and run them, also after an update/);
  });

  it('refuses a prefix that could break statements', async () => {
    const dataSource = await openHost(bench(), { entityPrefix: 'x?' });
    const opening = new TypeOrmSessionStorage({ dataSource }).open();
    await expect(opening).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'tablePrefix' });
  });

  it('refuses a DataSource that is not initialised', async () => {
    const storage = new TypeOrmSessionStorage({ dataSource: new DataSource(hostOptions(bench())) });
    await expectRefusal(storage, /call its initialize\(\) first/);
  });
});

describeSqlServers(
  'A $name store with a DataSource of the app',
  (bench) => {
    it('refuses connections that would change text', async () => {
      const latin1 = await openHost(bench(), { charset: 'latin1' });
      await expectRefusal(new TypeOrmSessionStorage({ dataSource: latin1 }), /set charset: 'utf8mb4'/);

      const { url } = bench().database.storageOptions;
      const { host, port, user, password } = mysqlOptionsOf(url);
      const database = new URL(url).pathname.slice(1);
      const dataSource = new DataSource({
        type: 'mysql',
        host,
        port,
        username: user,
        password,
        database,
        charset: 'utf8mb4',
        poolSize: 1,
        extra: bench().database.storageOptions.driverOptions,
      });
      await dataSource.initialize();
      bench().closeInTheEnd(() => dataSource.destroy());
      await dataSource.query("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'");
      await expectRefusal(new TypeOrmSessionStorage({ dataSource }), /take it out of sql_mode/);
    });
  },
  ['mariadb'],
);

async function expectRefusal(storage: TypeOrmSessionStorage, message: RegExp): Promise<void> {
  const error = await storage.open().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect((error as Error).message).toMatch(message);
}
