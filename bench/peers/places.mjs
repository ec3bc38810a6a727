import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import pg from 'pg';

const URLS = {
  redis: process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379',
  mariadb: process.env.TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306',
  postgres: process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
};

/**
 * Gives `work` an empty place in a store, and removes it afterwards.
 *
 * @template Result
 * @param {string} store
 * @param {(place: { store: string, url?: string, name: string, directory?: string }) => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function withPlace(store, work) {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  const { remove, ...place } = await MAKERS[store](name);
  try {
    return await work({ store, name, ...place });
  } finally {
    await remove();
  }
}

const MAKERS = {
  memory: async () => ({ remove: async () => undefined }),
  async sqlite() {
    const directory = await mkdtemp(join(tmpdir(), 'sessions-bench-'));
    return { directory, remove: () => rm(directory, { recursive: true }) };
  },
  async redis(name) {
    const client = new Redis(URLS.redis);
    await client.ping();
    const remove = async () => {
      for await (const keys of client.scanStream({ match: `${name}:*`, count: 1_000 })) {
        if (keys.length > 0) await client.unlink(keys);
      }
      await client.quit();
    };
    return { url: URLS.redis, remove };
  },
  async mariadb(name) {
    const server = await mysql.createConnection(URLS.mariadb);
    await server.query(`CREATE DATABASE ${name}`);
    const remove = async () => {
      await server.query(`DROP DATABASE ${name}`);
      await server.end();
    };
    return { url: withDatabase(URLS.mariadb, name), remove };
  },
  async postgres(name) {
    const server = new pg.Client(URLS.postgres);
    await server.connect();
    await server.query(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
    const remove = async () => {
      await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await server.end();
    };
    return { url: withDatabase(URLS.postgres, name), remove };
  },
};

function withDatabase(url, name) {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
