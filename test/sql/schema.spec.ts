import { DataSource, type EntitySchema } from 'typeorm';
import { ALL_TABLES } from '../../src/sessions/storage/typeorm/schema/all-tables.js';
import { SESSION_MIGRATIONS, type ServerOptions, TypeOrmSessionStorage, sessionEntities } from '../../src/typeorm.js';
import { comparedEntities } from '../support/compared-entities.js';
import { type SqlBench, describeSqlServers } from '../support/sql-bench.js';

const KEY = { appName: 'app', userId: 'user', sessionId: 'same' };
const MIGRATIONS_TABLE = 'agent_session_migrations';
const TABLES = [MIGRATIONS_TABLE, ...Object.values(ALL_TABLES).map(({ name }) => name)].toSorted(byBytes);

describeSqlServers('The tables in $name', (bench) => {
  it.each<Partial<ServerOptions>>([{}, { tablePrefix: 'x_' }])('match the entities, with %j', async (options) => {
    await bench().storage(options).open();
    const dataSource = await hostOf(bench(), options);
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('are left alone by generated migrations, whatever the DataSource calls the server', async () => {
    const types = bench().name === 'postgres' ? (['postgres'] as const) : (['mysql', 'mariadb'] as const);
    const hosts = await Promise.all(types.map((type) => hostOf(bench(), { type, entities: sessionEntities(type) })));
    const generated = async (): Promise<string[]> => {
      const logs = await Promise.all(hosts.map(({ driver }) => driver.createSchemaBuilder().log()));
      return logs.flatMap(({ upQueries }) => upQueries.map(({ query }) => query));
    };
    // Also before they are there: only SESSION_MIGRATIONS create them.
    expect(await generated()).toEqual([]);
    await hosts[0]?.runMigrations();
    expect(await generated()).toEqual([]);
    await Promise.all(hosts.map((host) => host.synchronize()));
    for (const host of hosts) await new TypeOrmSessionStorage({ dataSource: host }).open();
  });

  it('can be dropped by reverting the migrations, and created again', async () => {
    await bench().storage().open();
    const dataSource = await hostOf(bench(), {});
    expect(await tablesIn(bench())).toEqual(TABLES);
    for (const _ of SESSION_MIGRATIONS) await dataSource.undoLastMigration();
    expect(await tablesIn(bench())).toEqual([MIGRATIONS_TABLE]);
    await dataSource.runMigrations();
    expect(await tablesIn(bench())).toEqual(TABLES);
    expect((await dataSource.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
  });

  it('can share a database with those of another prefix', async () => {
    const first = bench().sessions({ tablePrefix: 'x_' });
    const second = bench().sessions({ tablePrefix: 'y_' });
    await first.createSession({ ...KEY, state: { of: 'x', 'user:of': 'x' } });
    await second.createSession({ ...KEY, state: { of: 'y', 'user:of': 'y' } });
    expect((await first.getSession(KEY))?.state.toRecord()).toEqual({ of: 'x', 'user:of': 'x' });
    expect((await second.getSession(KEY))?.state.toRecord()).toEqual({ of: 'y', 'user:of': 'y' });
    expect(await tablesIn(bench())).toEqual(
      ['x_', 'y_'].flatMap((prefix) => TABLES.map((table) => prefix + table)).toSorted(byBytes),
    );
  });

  it('can be created by ten stores concurrently', async () => {
    const all = Array.from({ length: 10 }, () => bench().sessions());
    await Promise.all(all.map((sessions, index) => sessions.createSession({ ...KEY, sessionId: `s-${index}` })));
    expect((await all[0]?.listSessions({ appName: 'app' }))?.sessions).toHaveLength(10);
    const raw = await bench().connect();
    expect(await raw.query(`SELECT name FROM ${MIGRATIONS_TABLE}`)).toHaveLength(SESSION_MIGRATIONS.length);
  });

  it('compare text byte by byte with any database collation', async () => {
    const raw = await bench().connect();
    if (bench().name === 'mariadb') {
      await raw.query('ALTER DATABASE CHARACTER SET latin1 COLLATE latin1_general_ci');
    }
    const sessions = bench().sessions();
    const ids = ['a', 'A', 'ä', 'Ａ', '😀', 'ß', 'ss', 'é', 'e\u0301'];
    for (const id of ids) {
      const stateDelta = { [`k${id}`]: id, [`user:${id}`]: id };
      await sessions.createSession({ appName: 'app', userId: id, sessionId: id });
      await sessions.appendEvent({
        session: { appName: 'app', userId: id, id },
        event: { id, author: id, content: { role: 'user', parts: [{ text: id }] }, actions: { stateDelta } },
      });
    }
    for (const id of ids) {
      const found = await sessions.getSession({ appName: 'app', userId: id, sessionId: id });
      expect(found?.events.map((event) => [event.id, event.content?.parts?.[0]?.text])).toEqual([[id, id]]);
      expect(found?.state.toRecord()).toEqual({ [`k${id}`]: id, [`user:${id}`]: id });
    }
    const listed = await sessions.listSessions({ appName: 'app', limit: 100, orderBy: 'createTime' });
    expect(listed.sessions).toHaveLength(ids.length);
  });
});

/** PostgreSQL is not tested, because it creates all tables in one transaction. */
describeSqlServers(
  'The tables in $name',
  (bench) => {
    it.each([1, 2, 7, 16])(
      'are completed by the next store after a migration failed after %i tables',
      async (count) => {
        await bench().storage().open();
        const raw = await bench().connect();
        const inOrder = Object.values(ALL_TABLES).map(({ name }) => name);
        for (const table of inOrder.slice(count).toReversed()) await raw.query(`DROP TABLE ${table}`);
        await raw.query(`DELETE FROM ${MIGRATIONS_TABLE}`);
        const sessions = bench().sessions();
        await sessions.createSession({ ...KEY, state: { 'user:k': 1 } });
        expect(await tablesIn(bench())).toEqual(TABLES);
        const dataSource = await hostOf(bench(), {});
        expect((await dataSource.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
      },
    );
  },
  ['mariadb'],
);

describeSqlServers(
  'A schema of $name',
  (bench) => {
    it('is created if it is missing, and holds the tables', async () => {
      const schema = 'Agent Sessions';
      const sessions = bench().sessions({ schema, tablePrefix: 'x_' });
      await sessions.createSession({ ...KEY, state: { 'user:k': 1, 'app:k': 1, k: 1 } });
      expect((await sessions.getSession(KEY))?.state.toRecord()).toEqual({ k: 1, 'user:k': 1, 'app:k': 1 });
      await bench().storage({ schema, tablePrefix: 'x_' }).open();
      expect(await tablesIn(bench())).toEqual([]);
      const raw = await bench().connect();
      const found = await raw.query(`SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`);
      expect(found).toHaveLength(TABLES.length);
    });

    it('can exist beside another schema with the same tables', async () => {
      const [first, second] = [bench().sessions({ schema: 'one' }), bench().sessions({ schema: 'two' })];
      await Promise.all([first.createSession(KEY), second.createSession(KEY)]);
      await first.deleteSession(KEY);
      expect(await second.getSession(KEY)).toBeDefined();
      const dataSource = await hostOf(bench(), { schema: 'one' });
      expect((await dataSource.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
    });

    it('sorts ids by bytes in a database with another collation', async () => {
      const raw = await bench().connect();
      const [icu] = await raw.query("SELECT collname FROM pg_collation WHERE collname = 'und-x-icu'");
      const name = `${new URL(bench().database.storageOptions.url).pathname.slice(1)}_icu`;
      const other = icu ? "LOCALE_PROVIDER icu ICU_LOCALE 'und' LOCALE 'C'" : "LOCALE 'C'";
      await raw.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' ${other}`);
      const url = new URL(bench().database.storageOptions.url);
      url.pathname = `/${name}`;
      const sessions = bench().sessions({ url: url.href });
      try {
        const clock = { now: () => 1_000 };
        const timed = bench().sessions({ url: url.href, clock, service: { clock } });
        for (const sessionId of ['b', 'B', 'a', 'é', 'z']) await timed.createSession({ ...KEY, sessionId });
        const { sessions: listed } = await sessions.listSessions({ ...KEY, orderBy: 'createTime', order: 'asc' });
        expect(listed.map(({ id }) => id)).toEqual(['B', 'a', 'b', 'z', 'é']);
        await timed.close();
      } finally {
        await sessions.close();
        await raw.query(`DROP DATABASE ${name} WITH (FORCE)`);
      }
    });
  },
  ['postgres'],
);

/** A DataSource of an app. By default, TypeORM compares the entities with the tables. */
async function hostOf(
  bench: SqlBench,
  {
    tablePrefix = '',
    schema,
    migrations = SESSION_MIGRATIONS,
    type = bench.name === 'postgres' ? 'postgres' : 'mariadb',
    entities = comparedEntities(type, tablePrefix),
  }: Partial<ServerOptions> & {
    readonly migrations?: typeof SESSION_MIGRATIONS;
    readonly type?: 'mysql' | 'mariadb' | 'postgres';
    readonly entities?: EntitySchema[];
  },
): Promise<DataSource> {
  const { url, driverOptions } = bench.database.storageOptions;
  const dataSource = new DataSource({
    type,
    url: url.replace('mysql:', `${type}:`),
    ...(schema && { schema }),
    entityPrefix: tablePrefix,
    entities,
    migrations: [...migrations],
    migrationsTableName: `${tablePrefix}${MIGRATIONS_TABLE}`,
    extra: driverOptions,
  });
  await dataSource.initialize();
  bench.closeInTheEnd(() => dataSource.destroy());
  return dataSource;
}

/** The tables of the default schema. */
async function tablesIn(bench: SqlBench): Promise<string[]> {
  const raw = await bench.connect();
  const schema = bench.name === 'postgres' ? "'public'" : 'DATABASE()';
  const rows = await raw.query(`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = ${schema} AND table_type = 'BASE TABLE'`);
  return rows.map(({ name }) => String(name)).toSorted(byBytes);
}

function byBytes(a: string, b: string): number {
  return a < b ? -1 : 1;
}
