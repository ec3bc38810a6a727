const { randomBytes } = require('node:crypto');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const newName = () => `agent_sessions_test_${randomBytes(6).toString('hex')}`;

/** A store for all tests, one after the other: `query` looks at its tables, which are emptied after each of them. */
async function sharedStore({ TypeOrmSessionStorage, sessionEntities }, options, query) {
  const entities = sessionEntities('postgres').map((entity) => entity.options);
  // Rows of the others go with these.
  const parents = entities.filter(({ relations }) => !relations);
  let current;
  const storage = new TypeOrmSessionStorage({ ...options, clock: { now: () => current.now() } });
  await storage.open();
  const raw = async () => {
    const rows = {};
    for (const { name } of entities) rows[name] = await query(`SELECT * FROM ${name}`);
    return {
      sessions: rows.agent_sessions.length,
      events: rows.agent_session_events.length,
      stateEntries: rows.agent_session_state.length + rows.agent_shared_state.length,
      text: JSON.stringify(rows),
    };
  };
  const destroy = async () => {
    for (const { name } of parents) await query(`DELETE FROM ${name}`);
  };
  return {
    storage,
    async create({ clock }) {
      current = clock;
      return { storage, raw, destroy };
    },
  };
}

/** SQLite with a driver of better-sqlite3's kind. */
const sqliteWith = (loadDriver) => async (load) => {
  const module = await load('nestjs-agent-sessions/typeorm');
  const Driver = await loadDriver(load);
  const folder = mkdtempSync(join(tmpdir(), 'sessions-contract-'));
  const database = join(folder, 'sessions.db');
  let connection;
  const query = async (text) => {
    connection ??= new Driver(database);
    const statement = connection.prepare(text);
    return text.startsWith('SELECT') ? statement.all() : statement.run();
  };
  const { storage, create } = await sharedStore(module, { database, driver: Driver }, query);
  await query('SELECT 1');
  connection.pragma?.('foreign_keys = ON');
  return {
    create,
    async remove() {
      connection.close();
      await storage.close();
      rmSync(folder, { recursive: true });
    },
  };
};

/** Refuses entities of which TypeORM would generate changes of the tables. */
async function checkGenerated(load, { sessionEntities }, types, url) {
  const { DataSource } = await load('typeorm');
  for (const type of types) {
    const entities = sessionEntities(type);
    const dataSource = new DataSource({ type, url: url.replace(/^\w+/, type), entities });
    await dataSource.initialize();
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    await dataSource.destroy();
    const found = upQueries.map(({ query }) => query);
    if (found.length > 0) throw new Error(`TypeORM generates for ${type}: ${found.join('; ')}`);
  }
}

async function mysql(load, url) {
  const module = await load('nestjs-agent-sessions/typeorm');
  const { default: client } = await load('mysql2/promise').then((loaded) => ({ default: loaded.default ?? loaded }));
  const name = newName();
  const own = new URL(url);
  own.pathname = `/${name}`;
  const connection = await client.createConnection(url);
  await connection.query(`CREATE DATABASE ${name}`);
  await connection.query(`USE ${name}`);
  const query = async (text) => (await connection.query(text))[0];
  const { storage, create } = await sharedStore(module, { url: own.href }, query);
  await checkGenerated(load, module, ['mysql', 'mariadb'], own.href);
  return {
    create,
    async remove() {
      await storage.close();
      await connection.query(`DROP DATABASE ${name}`);
      await connection.end();
    },
  };
}

async function postgres(load, url) {
  const module = await load('nestjs-agent-sessions/typeorm');
  const loaded = await load('pg');
  const { Client } = loaded.default ?? loaded;
  const name = newName();
  const own = new URL(url);
  own.pathname = `/${name}`;
  const admin = new Client({ connectionString: url });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const connection = new Client({ connectionString: own.href });
  await connection.connect();
  const query = async (text) => (await connection.query(text)).rows;
  const { storage, create } = await sharedStore(module, { url: own.href }, query);
  await checkGenerated(load, module, ['postgres'], own.href);
  return {
    create,
    async remove() {
      await storage.close();
      await connection.end();
      await admin.query(`DROP DATABASE ${name}`);
      await admin.end();
    },
  };
}

async function redis(load, url) {
  const { RedisSessionStorage } = await load('nestjs-agent-sessions/redis');
  const { Redis } = await load('ioredis');
  const admin = new Redis(url);
  const keysUnder = async (prefix) => {
    const keys = new Set();
    for await (const found of admin.scanStream({ match: `${prefix}*`, count: 1000 })) {
      for (const key of found) keys.add(key);
    }
    return [...keys];
  };
  return {
    async create({ clock }) {
      const prefix = `${newName()}:`;
      const storage = new RedisSessionStorage({ url, prefix, clock });
      await storage.open();
      return {
        storage,
        raw: async () => readRedis(admin, await keysUnder(prefix)),
        async destroy() {
          await storage.close();
          for (const key of await keysUnder(prefix)) await admin.unlink(key);
        },
      };
    },
    async remove() {
      await admin.quit();
    },
  };
}

async function readRedis(admin, keys) {
  const read = async (key) => {
    const type = await admin.type(key);
    if (type === 'hash') return Object.entries(await admin.hgetall(key));
    if (type === 'zset') return admin.zrange(key, 0, -1, 'WITHSCORES');
    return [await admin.get(key)];
  };
  const values = [];
  for (const key of keys) values.push([key, await read(key)]);
  const ofKind = (kind) => values.filter(([key]) => kind.test(key)).map(([, value]) => value);
  const fields = (kind) => ofKind(kind).flatMap((value) => value.map(([name]) => name));
  return {
    sessions: ofKind(/:session:[^:]*$/).length,
    events: fields(/:events:[^:]*$/).length,
    stateEntries: fields(/:(state:[^:]*|user-state|app-state)$/).filter((name) => name !== '').length,
    text: JSON.stringify(values),
  };
}

const driverOf = (name) => async (load) => {
  const loaded = await load(name);
  return loaded.default ?? loaded;
};

module.exports = {
  libsql: sqliteWith(driverOf('libsql')),
  'better-sqlite3': sqliteWith(driverOf('better-sqlite3')),
  mysql,
  postgres,
  redis,
};
