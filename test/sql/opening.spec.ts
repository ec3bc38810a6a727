import { ConfigurationError, InvalidInputError, StoreUnavailableError } from '../../src/index.js';
import { type ServerOptions, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { freePort } from '../servers/free-port.js';
import { allTextOf } from '../support/error-text.js';
import { type SqlBench, describeSqlServers } from '../support/sql-bench.js';

const PASSWORD = 'very-secret';
const LIMIT_MS = 600;

describeSqlServers('A $name store that cannot be opened', (bench) => {
  it.each(['127.0.0.1', '[::1]'])('reports a refused connection to %s', async (host) => {
    const port = await freePort();
    const error = await failure({ url: changed(bench(), { host: `${host}:${port}` }), driverOptions: {} });
    expect(error.message).toContain(`No server listens at ${host}:${port}`);
  });

  it('reports an unknown host', async () => {
    const error = await failure({ url: changed(bench(), { host: 'nowhere.invalid' }), driverOptions: {} });
    expect(error.message).toContain('There is no host for nowhere.invalid');
  });

  it('reports a server that does not respond', async () => {
    const { proxy, behind } = await bench().proxy();
    proxy.mode = 'black hole';
    const error = await failure({ ...behind, url: withPassword(behind.url), timeLimitMs: LIMIT_MS });
    expect(error.message).toContain('did not answer in time');
  });

  it('reports a missing database', async () => {
    const { url, driverOptions } = bench().database.storageOptions;
    const error = await mistake({ url: url.replace(/[^/]*$/, 'not_there'), driverOptions });
    expect(error.message).toContain('There is no database "not_there"');
  });

  it('reports a refused login', async () => {
    const raw = await bench().connect();
    const user = `u${Math.random().toString(36).slice(2)}`;
    const isPostgres = bench().name === 'postgres';
    if (isPostgres) await raw.query(`CREATE ROLE ${user} NOLOGIN`);
    else await raw.query(`CREATE USER ${user} IDENTIFIED BY 'other'`);
    try {
      const error = await mistake({ url: changed(bench(), { username: user }) });
      expect(error.message).toContain(`refused the login of "${user}"`);
    } finally {
      await raw.query(`DROP ${isPostgres ? 'ROLE' : 'USER'} ${user}`);
    }
  });

  it('reports a missing right to create tables', async () => {
    const raw = await bench().connect();
    const user = `u${Math.random().toString(36).slice(2)}`;
    const isPostgres = bench().name === 'postgres';
    if (isPostgres) {
      await raw.query(`CREATE ROLE ${user} LOGIN PASSWORD '${PASSWORD}'; REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
    } else {
      await raw.query(`CREATE USER ${user} IDENTIFIED BY '${PASSWORD}'; GRANT SELECT ON *.* TO ${user}`);
    }
    try {
      const error = await mistake({ url: changed(bench(), { username: user }) });
      expect(error.message).toContain(`The user "${user}" may not create tables`);
    } finally {
      await raw.query(`DROP ${isPostgres ? 'ROLE' : 'USER'} ${user}`);
    }
  });

  it('reports other tables of the same names', async () => {
    // TypeORM prints failed migrations.
    const print = jest.spyOn(console, 'log').mockImplementation();
    const raw = await bench().connect();
    await raw.query('CREATE TABLE other_agent_sessions (id int)');
    try {
      const error = await mistake({ ...bench().database.storageOptions, tablePrefix: 'other_' });
      expect(error.message).toContain('has other tables with the names of the session tables');
    } finally {
      await raw.query('DROP TABLE other_agent_sessions');
      print.mockRestore();
    }
  });

  it('opens a database whose name a url has to encode', async () => {
    const raw = await bench().connect();
    const name = `the agents ${Math.random().toString(36).slice(2)}`;
    const quoted = bench().name === 'postgres' ? `"${name}"` : `\`${name}\``;
    await raw.query(`CREATE DATABASE ${quoted}`);
    const { url, driverOptions } = bench().database.storageOptions;
    const storage = new TypeOrmSessionStorage({ url: url.replace(/[^/]*$/, encodeURIComponent(name)), driverOptions });
    try {
      await storage.open();
    } finally {
      await storage.close();
      await raw.query(`DROP DATABASE ${quoted}`);
    }
  });

  it('opens at a later attempt', async () => {
    const { proxy, behind } = await bench().proxy();
    proxy.filter = () => 'cut';
    const sessions = bench().sessions(behind);
    const key = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
    await expect(sessions.createSession(key)).rejects.toMatchObject({ outcomeUnknown: false });
    proxy.filter = () => 'pass';
    expect(await sessions.createSession(key)).toMatchObject({ version: 0 });
  });

  it('lists the supported urls', async () => {
    for (const url of ['oracle://u:very-secret@h/d', 'nonsense', '']) {
      const storage = new TypeOrmSessionStorage({ url });
      const error = await storage.open().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(InvalidInputError);
      expect(allTextOf(error)).not.toContain(PASSWORD);
    }
  });
});

/** The URL of the database with a password and the given changes. */
function changed({ database }: SqlBench, parts: { host?: string; username?: string }): string {
  return Object.assign(new URL(withPassword(database.storageOptions.url)), parts).href;
}

function withPassword(address = ''): string {
  const url = new URL(address);
  url.password = PASSWORD;
  return url.href;
}

/** A temporary failure. */
async function failure(options: Partial<ServerOptions>): Promise<Error> {
  const error = await refusal(options);
  expect(error).toBeInstanceOf(StoreUnavailableError);
  expect(error).toMatchObject({ outcomeUnknown: false });
  return error;
}

/** A permanent failure. */
async function mistake(options: Partial<ServerOptions>): Promise<Error> {
  const error = await refusal(options);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error.message).not.toMatch(/retry/);
  return error;
}

async function refusal(options: Partial<ServerOptions>): Promise<Error> {
  const storage = new TypeOrmSessionStorage({ url: '', ...options });
  const error = await storage.open().catch((thrown: unknown) => thrown);
  expect(allTextOf(error)).not.toContain(PASSWORD);
  await storage.close();
  return error as Error;
}
