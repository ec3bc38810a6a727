import { DataSource, type DataSourceOptions } from 'typeorm';
import { SessionService } from '../../src/index.js';
import { SessionSearch } from '../../src/search/index.js';
import { openExistingDatabase } from '../../src/sessions/storage/typeorm/connect/open-database.js';
import { SEARCH_MIGRATIONS, SESSION_MIGRATIONS, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { observedDriver } from '../support/observed-driver.js';
import { describeSqlServers, type SqlBench } from '../support/sql-bench.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { untilIndexed, USER } from './support.js';

const SAID = 30;

async function fill(sessions: SessionService): Promise<void> {
  for (let number = 0; number < SAID; number++) {
    const session = await sessions.getOrCreateSession({ ...USER, sessionId: `s-${number % 7}` });
    const parts = [{ text: `order ${number}` }];
    await sessions.appendEvent({ session, event: { author: 'user', content: { role: 'user', parts } } });
  }
}

async function expectFound(sessions: SessionService): Promise<void> {
  const search = new SessionSearch({ sessions, pollMs: 10 });
  await search.start();
  await untilIndexed(search);
  const { hits } = await search.searchEvents({ ...USER, text: 'order', limit: 50 });
  expect(hits).toHaveLength(SAID);
  await search.stop();
  await sessions.whenIdle();
}

describeSqlServers('The tables of the search index in $name', (bench) => {
  it('are made in a filled database when a search starts, by several processes at once, and by none that does not search', async () => {
    const sessions = bench().sessions();
    await fill(sessions);
    const raw = await bench().connect();
    await expect(raw.query('SELECT 1 FROM agent_search')).rejects.toThrow();
    const services = [sessions, bench().sessions(), bench().sessions()];
    const searches = services.map((each) => new SessionSearch({ sessions: each, pollMs: 10 }));
    await Promise.all(searches.map((search) => search.start()));
    await Promise.all(searches.map((search) => search.stop()));
    await Promise.all(services.map((each) => each.whenIdle()));
    await expectFound(bench().sessions());
    expect(await raw.query('SELECT pk FROM agent_search')).toHaveLength(SAID);
    await raw.query('DELETE FROM agent_sessions');
    expect(await raw.query('SELECT pk FROM agent_search')).toEqual([]);
  });

  it('are made under a prefix', async () => {
    const sessions = bench().sessions({ tablePrefix: 'x_' });
    await fill(sessions);
    await expectFound(sessions);
  });

  it('are missing for a process that may create none, which says so', async () => {
    await bench().storage().open();
    const storage = new TypeOrmSessionStorage(bench().database.storageOptions, openExistingDatabase);
    const sessions = new SessionService({ storage });
    bench().closeInTheEnd(() => sessions.close());
    const search = new SessionSearch({ sessions });
    await expect(search.start()).rejects.toThrow('SEARCH_MIGRATIONS');
    await expect(search.searchEvents({ ...USER, text: 'order' })).rejects.toThrow('SEARCH_MIGRATIONS');
    await fill(bench().sessions());
    await expectFound(bench().sessions());
    await search.start();
    expect((await search.searchEvents({ ...USER, text: 'order', limit: 50 })).hits).toHaveLength(SAID);
    await search.stop();
  });

  it('are made by the migrations of an app in its filled database, and can be reverted', async () => {
    const dataSource = await hostOf(bench());
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource }) });
    bench().closeInTheEnd(() => sessions.close());
    await fill(sessions);
    await expect(new SessionSearch({ sessions }).start()).rejects.toThrow('SEARCH_MIGRATIONS');
    await dataSource.destroy();
    const migrated = await hostOf(bench(), [...SESSION_MIGRATIONS, ...SEARCH_MIGRATIONS]);
    const again = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource: migrated }) });
    await expectFound(again);
    await again.close();
    await migrated.undoLastMigration();
    await migrated.runMigrations();
    for (let count = 0; count < 2; count++) await migrated.undoLastMigration();
  });
});

describe('The tables of the search index in SQLite', () => {
  let file: SqliteFile;
  beforeEach(() => {
    file = new SqliteFile();
  });
  afterEach(() => file.remove());

  it('are made in a filled file when a search starts, and their rows go with their session', async () => {
    const sessions = await file.sessions();
    await fill(sessions);
    expect(tablesIn(file)).toEqual([]);
    await expectFound(sessions);
    const connection = file.connection();
    expect(connection.prepare('SELECT pk FROM agent_search').all()).toHaveLength(SAID);
    await sessions.eraseUser(USER);
    expect(connection.prepare('SELECT pk FROM agent_search').all()).toEqual([]);
    // What the words were is nowhere, since the index was told what was removed.
    connection.exec("INSERT INTO agent_search_words (agent_search_words) VALUES ('integrity-check')");
    expect(connection.prepare('SELECT rowid FROM agent_search_words').all()).toEqual([]);
  });

  it('are made by the migrations of an app', async () => {
    const dataSource = new DataSource({
      type: 'better-sqlite3',
      driver: observedDriver({}),
      database: file.path,
      migrations: [...SESSION_MIGRATIONS, ...SEARCH_MIGRATIONS],
      entityPrefix: 'x_',
    });
    await dataSource.initialize();
    await dataSource.runMigrations();
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource }) });
    await fill(sessions);
    await expectFound(sessions);
    await sessions.close();
    for (let count = 0; count < 2; count++) await dataSource.undoLastMigration();
    await dataSource.destroy();
    expect(tablesIn(file)).toEqual([]);
  });
});

function tablesIn(file: SqliteFile): unknown[] {
  return file.connection().prepare("SELECT name FROM sqlite_master WHERE name LIKE '%agent_search%'").all();
}

async function hostOf(bench: SqlBench, migrations = [...SESSION_MIGRATIONS]): Promise<DataSource> {
  const { url, driverOptions } = bench.database.storageOptions;
  const type = bench.name === 'postgres' ? 'postgres' : 'mysql';
  const options = { type, url, charset: 'utf8mb4', extra: driverOptions, migrations, migrationsTableName: 'of_app' };
  const dataSource = new DataSource(options as DataSourceOptions);
  await dataSource.initialize();
  bench.closeInTheEnd(() => (dataSource.isInitialized ? dataSource.destroy() : undefined));
  await dataSource.runMigrations();
  return dataSource;
}
