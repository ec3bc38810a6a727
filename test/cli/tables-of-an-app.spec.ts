import Libsql from 'libsql';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { SessionService } from '../../src/index.js';
import { SESSION_MIGRATIONS, TypeOrmSessionStorage, sessionEntities } from '../../src/typeorm.js';
import { describeSqlServers } from '../support/sql-bench.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { chosenStoreNames } from '../support/store-names.js';
import { cli } from './terminal.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

/** A database of an app whose DataSource has the session tables, with TypeORM's own table of migrations. */
interface AppDatabase {
  /** As the command line takes it. */
  readonly url: string;
  readonly options: DataSourceOptions;
  readonly tables: (dataSource: DataSource) => Promise<string[]>;
}

async function withTables({ options }: AppDatabase, work: (dataSource: DataSource) => Promise<void>): Promise<void> {
  const dataSource = new DataSource({
    ...options,
    migrations: SESSION_MIGRATIONS,
  });
  await dataSource.initialize();
  try {
    await dataSource.runMigrations();
    await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** The same on each database. */
function describeCommands(database: () => Promise<AppDatabase>): void {
  it('are looked at, exported, checked and cleaned up, and nothing is created', async () => {
    const app = await database();
    await withTables(app, async (dataSource) => {
      const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource }) });
      const session = await sessions.createSession({ ...KEY, state: { step: 1 } });
      await sessions.appendEvent({ session, event: { author: 'user', content: { parts: [{ text: 'Hello' }] } } });
      const before = await app.tables(dataSource);

      const url = ['--url', app.url];
      expect(await cli(['list', ...url])).toMatchObject({ code: 0, out: 'shop\n', err: '' });
      expect((await cli(['show', 'shop', 'ann', 's-1', ...url])).out).toContain('user  Hello');
      expect((await cli(['export', ...url])).out).toContain('"kind":"footer"');
      expect(await cli(['verify', '--strict', ...url])).toMatchObject({ code: 0 });
      expect(await cli(['purge', ...url])).toMatchObject({ code: 0 });
      expect((await cli(['migrate', '--status', ...url])).out).toContain(
        `${SESSION_MIGRATIONS.length} done, 0 pending`,
      );
      expect(await cli(['migrate', ...url])).toMatchObject({ code: 0, out: expect.stringContaining('up to date') });
      expect(await app.tables(dataSource)).toEqual(before);
      expect(before.filter((name) => name.includes('migrations'))).toEqual(['migrations']);
    });
  });

  it.each([
    ['a column', 'ALTER TABLE agent_session_events DROP COLUMN appended_at'],
    ['a table', 'DROP TABLE agent_entries'],
  ])('that lack %s are refused, and left to the app', async (_what, statement) => {
    const app = await database();
    await withTables(app, async (dataSource) => {
      await dataSource.query(statement);
      const before = await app.tables(dataSource);
      const status = await cli(['migrate', '--status', '--url', app.url]);
      expect(status.out).toContain(`0 done, ${SESSION_MIGRATIONS.length} pending`);
      for (const command of [['list'], ['migrate']]) {
        const { code, err } = await cli([...command, '--url', app.url]);
        expect([code, err]).toEqual([2, expect.stringContaining('an app made them with its DataSource')]);
      }
      expect(await app.tables(dataSource)).toEqual(before);
    });
  });
}

describeSqlServers('Tables that the DataSource of an app made in $name', (bench) => {
  describeCommands(async () => {
    const { behind } = await bench().proxy();
    const { url, driverOptions: extra } = bench().database.storageOptions;
    const type = bench().name === 'postgres' ? 'postgres' : 'mysql';
    const schema = type === 'postgres' ? "'public'" : 'DATABASE()';
    return {
      url: behind.url ?? '',
      options: { type, url, extra, entities: sessionEntities(type) } as DataSourceOptions,
      async tables(dataSource) {
        const rows: { name: string }[] = await dataSource.query(
          `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ${schema}`,
        );
        return rows.map(({ name }) => name).toSorted();
      },
    };
  });
});

if (chosenStoreNames().includes('sqlite')) {
  describe('Tables that the DataSource of an app made in sqlite', () => {
    let file: SqliteFile;
    beforeEach(() => {
      file = new SqliteFile();
    });
    afterEach(() => file.remove());

    describeCommands(async () => ({
      url: `sqlite:${file.path}`,
      options: { type: 'better-sqlite3', driver: Libsql, database: file.path } as DataSourceOptions,
      async tables(dataSource) {
        const rows: { name: string }[] = await dataSource.query("SELECT name FROM sqlite_master WHERE type = 'table'");
        return rows.map(({ name }) => name).toSorted();
      },
    }));
  });
}
