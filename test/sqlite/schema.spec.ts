import type Libsql from 'libsql';
import { DataSource } from 'typeorm';
import { SESSION_MIGRATIONS, sessionEntities } from '../../src/typeorm.js';
import { comparedEntities } from '../support/compared-entities.js';
import { observedDriver } from '../support/observed-driver.js';
import { SqliteFile } from '../support/sqlite-file.js';

const TABLES = sessionEntities('better-sqlite3').length;
const MIGRATIONS_TABLE = 'agent_session_migrations';

describe('the tables in SQLite', () => {
  let file: SqliteFile;
  let dataSource: DataSource;

  beforeEach(() => {
    file = new SqliteFile();
    dataSource = new DataSource({
      type: 'better-sqlite3',
      driver: observedDriver({}),
      database: file.path,
      entities: comparedEntities('better-sqlite3'),
      migrations: [...SESSION_MIGRATIONS],
      migrationsTableName: MIGRATIONS_TABLE,
    });
  });

  afterEach(async () => {
    if (dataSource.isInitialized) await dataSource.destroy();
    await file.remove();
  });

  it('match the entities: TypeORM generates no change', async () => {
    await (await file.storage()).close();
    await dataSource.initialize();
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('are left alone by generated migrations', async () => {
    dataSource.setOptions({ entities: sessionEntities('better-sqlite3') });
    await dataSource.initialize();
    const generated = async (): Promise<unknown> => (await dataSource.driver.createSchemaBuilder().log()).upQueries;
    // Also before they are there: only SESSION_MIGRATIONS create them.
    expect(await generated()).toEqual([]);
    await dataSource.runMigrations();
    expect(await generated()).toEqual([]);
  });

  it('have the columns, keys and indexes that TypeORM creates from the entities', async () => {
    await (await file.storage()).close();
    const migrated = schemaOf(file.connection());
    const other = new SqliteFile();
    try {
      const synchronised = new DataSource({ ...dataSource.options, database: other.path } as typeof dataSource.options);
      await synchronised.initialize();
      await synchronised.synchronize();
      await synchronised.destroy();
      expect(migrated.map(({ table }) => table)).toHaveLength(TABLES);
      expect(migrated).toEqual(schemaOf(other.connection()));
    } finally {
      await other.remove();
    }
  });

  it('can be dropped by reverting the migrations, and created again', async () => {
    await dataSource.initialize();
    await dataSource.runMigrations();
    expect(schemaOf(file.connection())).not.toEqual([]);
    for (const _ of SESSION_MIGRATIONS) await dataSource.undoLastMigration();
    const left = file.connection().prepare("SELECT name FROM sqlite_master WHERE name LIKE '%agent%'").all();
    expect(left).toEqual([{ name: MIGRATIONS_TABLE }]);
    await dataSource.runMigrations();
    expect(schemaOf(file.connection())).toHaveLength(TABLES);
  });

  it('find rows to delete by cascade with an index', async () => {
    await (await file.storage()).close();
    const foreignKeys = schemaOf(file.connection()).flatMap(({ keys, indexes }) =>
      keys.map(({ from }) => indexes.some(({ columns }) => columns[0] === from)),
    );
    expect(foreignKeys).toEqual(Array.from({ length: 6 }, () => true));
  });

  it('use the prefix in all names', async () => {
    await (await file.storage({ tablePrefix: 'x_' })).close();
    const tables = file.connection().prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as Named[];
    const own = tables.map(({ name }) => name).filter((name) => !name.startsWith('sqlite_'));
    expect(own.filter((name) => !name.startsWith('x_agent_'))).toEqual([]);
  });

  it('can share a file with those of another prefix', async () => {
    const key = { appName: 'app', userId: 'user', sessionId: 'same' };
    const first = await file.sessions({ tablePrefix: 'x_' });
    const second = await file.sessions({ tablePrefix: 'y_' });
    await first.createSession({ ...key, state: { of: 'x' } });
    await second.createSession({ ...key, state: { of: 'y' } });
    expect((await first.getSession(key))?.state.toRecord()).toEqual({ of: 'x' });
    expect((await second.getSession(key))?.state.toRecord()).toEqual({ of: 'y' });
  });
});

describe("the store's connection", () => {
  it('uses a write-ahead log, synchronous commits and foreign keys', async () => {
    const file = new SqliteFile();
    const connections: Libsql.Database[] = [];
    const driver = observedDriver({ opened: (connection) => connections.push(connection) });
    await file.storage({ driver });
    expect(connections).toHaveLength(1);
    const pragma = (name: string): unknown => connections[0]?.pragma(name);
    expect(pragma('journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(pragma('synchronous')).toEqual([{ synchronous: 2 }]);
    expect(pragma('foreign_keys')).toEqual([{ foreign_keys: 1 }]);
    await file.remove();
  });
});

interface Named {
  readonly name: string;
}

interface TableSchema {
  readonly table: string;
  readonly columns: readonly unknown[];
  readonly keys: readonly { readonly from: string }[];
  readonly indexes: readonly { readonly columns: readonly string[] }[];
}

/** SQLite's description of each table, without the generated names of automatic indexes. */
function schemaOf(connection: Libsql.Database): TableSchema[] {
  const rows = <Row>(text: string): Row[] => connection.prepare(text).all() as Row[];
  const tables = rows<Named>(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'agent%' AND name <> '${MIGRATIONS_TABLE}' ORDER BY name`,
  );
  return tables.map(({ name: table }) => ({
    table,
    columns: rows<Named>(`PRAGMA table_info("${table}")`),
    keys: rows<{ from: string }>(`PRAGMA foreign_key_list("${table}")`),
    indexes: rows<Named & { unique: number; origin: string; partial: number }>(`PRAGMA index_list("${table}")`)
      .map(({ name, unique, origin, partial }) => ({
        name: name.startsWith('sqlite_') ? '' : name,
        unique,
        origin,
        partial,
        columns: rows<Named>(`PRAGMA index_info("${name}")`).map((column) => column.name),
      }))
      .sort((a, b) => (`${a.name} ${a.columns.join()}` < `${b.name} ${b.columns.join()}` ? -1 : 1)),
  }));
}
