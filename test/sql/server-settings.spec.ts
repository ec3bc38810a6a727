import { DataSource } from 'typeorm';
import { ConfigurationError, SessionService } from '../../src/index.js';
import { SESSION_MIGRATIONS, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { binaryFolders } from '../servers/binaries.js';
import { mariadb } from '../servers/mariadb.js';
import { allTextOf } from '../support/error-text.js';
import { type SqlBench, describeSqlServers } from '../support/sql-bench.js';
import { mariaDbServer } from '../support/sql-servers.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const STATE = { own: '', 'user:name': 'Ann', 'app:currency': '' };

/** Global settings that change what statements do. */
const ODD_SETTINGS = [
  'autocommit = 0',
  "completion_type = 'CHAIN'",
  'tx_read_only = 1',
  'sql_select_limit = 1',
  "sql_mode = 'EMPTY_STRING_IS_NULL,ANSI'",
];

describeSqlServers(
  'A $name server with unusual settings',
  () => {
    it('stores everything unchanged', async () => {
      // Global settings need a private server.
      const server = await mariadb.starter(binaryFolders())?.();
      if (!server) throw new Error('Neither mariadbd nor mariadb-install-db is here: install mariadb-server');
      try {
        const { storageOptions } = await mariaDbServer.createDatabase(server.address);
        const raw = await mariaDbServer.connect(server.address);
        for (const setting of ODD_SETTINGS) await raw.query(`SET GLOBAL ${setting}`);
        await raw.close();
        for (const version of [0, 30]) {
          const sessions = new SessionService({ storage: new TypeOrmSessionStorage(storageOptions) });
          const session = await sessions.getOrCreateSession({ ...KEY, state: STATE });
          expect(session).toMatchObject({ version });
          const append = (index: number): Promise<unknown> =>
            sessions.appendEvent({ session: SESSION, event: { id: `${version}-${index}`, author: 'user' } });
          for (let index = 0; index < 10; index++) await append(index);
          await Promise.all(Array.from({ length: 20 }, (_, index) => append(index + 10)));
          const read = await sessions.getSession(KEY);
          expect(read?.events).toHaveLength(version + 30);
          expect(read?.state.toRecord()).toEqual(STATE);
          await sessions.close();
        }
      } finally {
        await server.stop();
      }
    });
  },
  ['mariadb'],
);

describeSqlServers(
  'A $name DataSource of the app with unusual settings',
  (bench) => {
    it.each([
      ['autocommit = 0', /set autocommit back/],
      ["completion_type = 'CHAIN'", /set completion_type back/],
      ['sql_select_limit = 10', /set sql_select_limit back/],
      ["sql_mode = 'EMPTY_STRING_IS_NULL'", /set EMPTY_STRING_IS_NULL of sql_mode back/],
    ])('is refused: %s', async (setting, message) => {
      const dataSource = await openHost(bench());
      await dataSource.query(`SET SESSION ${setting}`);
      const error: unknown = await new TypeOrmSessionStorage({ dataSource }).open().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect((error as Error).message).toMatch(message);
    });

    it('can be used if transactions are read-only by default', async () => {
      const dataSource = await openHost(bench());
      await dataSource.query('SET SESSION TRANSACTION READ ONLY');
      const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ dataSource }) });
      expect(await sessions.createSession(KEY)).toMatchObject({ version: 0 });
    });

    it('reports errors that the driver has no name for', async () => {
      const sessions = bench().sessions();
      await sessions.createSession(KEY);
      const raw = await bench().connect();
      // The error number of a statement timeout.
      await raw.query(`CREATE TRIGGER refusing BEFORE INSERT ON agent_session_events
        FOR EACH ROW SIGNAL SQLSTATE '70100' SET MYSQL_ERRNO = 1969, MESSAGE_TEXT = 'content-canary'`);
      const event = { author: 'user', content: { role: 'user', parts: [{ text: 'content-canary' }] } };
      const error: unknown = await sessions.appendEvent({ session: SESSION, event }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: false });
      expect((error as Error).message).toContain('(error 1969)');
      expect(allTextOf(error)).not.toContain('canary');
    });
  },
  ['mariadb'],
);

describeSqlServers(
  'A $name database with unusual settings',
  (bench) => {
    it('can be written to if transactions are read-only by default', async () => {
      const raw = await bench().connect();
      const database = new URL(bench().database.storageOptions.url).pathname.slice(1);
      await raw.query(`ALTER DATABASE "${database}" SET default_transaction_read_only = on`);
      expect(await bench().sessions().createSession(KEY)).toMatchObject({ version: 0 });
    });

    it('is refused without a schema', async () => {
      const raw = await bench().connect();
      const database = new URL(bench().database.storageOptions.url).pathname.slice(1);
      await raw.query(`ALTER DATABASE "${database}" SET search_path = ''`);
      const error: unknown = await bench()
        .storage()
        .open()
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect((error as Error).message).toContain('give a schema');
    });

    it('reports a missing right', async () => {
      const raw = await bench().connect();
      const sessions = bench().sessions();
      await sessions.createSession(KEY);
      // The same as for a user who owns nothing and was not granted it.
      await raw.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '42501'; END $$`);
      await raw.query(`CREATE TRIGGER refusing BEFORE INSERT ON agent_session_events EXECUTE FUNCTION refuse()`);
      await expect(sessions.appendEvent({ session: SESSION, event: { author: 'user' } })).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        outcomeUnknown: false,
        message: expect.stringContaining('(42501: its user lacks a right)') as string,
      });
    });
  },
  ['postgres'],
);

/** With one connection, so that its session settings apply to the store. */
async function openHost(bench: SqlBench): Promise<DataSource> {
  const { url, driverOptions } = bench.database.storageOptions;
  const dataSource = new DataSource({
    type: 'mysql',
    url,
    charset: 'utf8mb4',
    poolSize: 1,
    extra: driverOptions,
    migrations: [...SESSION_MIGRATIONS],
  });
  await dataSource.initialize();
  bench.closeInTheEnd(() => dataSource.destroy());
  await dataSource.runMigrations();
  return dataSource;
}
