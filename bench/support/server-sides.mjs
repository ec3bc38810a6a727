import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { RedisSessionStorage } from '../../dist/redis.js';
import { TypeOrmSessionStorage } from '../../dist/typeorm.js';
import { MysqlFiller, PostgresFiller, RedisFiller } from './many-sessions.mjs';
import { MinimumMysql } from './minimum/minimum-mysql.mjs';
import { MinimumPostgres } from './minimum/minimum-postgres.mjs';
import { MinimumRedis } from './minimum/minimum-redis.mjs';
import { Ours } from './ours.mjs';
import { OWNER } from './owner.mjs';
import { RawMysql } from './raw-mysql.mjs';
import { RawPostgres } from './raw-postgres.mjs';
import { RawRedis } from './raw-redis.mjs';

/**
 * The driver on the keys or tables of the package, for sessions that the package made.
 *
 * @typedef {object} RawServer
 * @property {(sessionId: string) => Promise<any>} find a session that is there
 * @property {(session: any, event: object) => Promise<unknown>} append
 * @property {(session: any, event: object) => Promise<unknown>} appendShared the same, and a key of user and app each
 * @property {(session: any, count: number) => Promise<unknown>} readNewest the session with its newest events, parsed
 * @property {() => Promise<void>} close
 */

/** Each server that is measured: where it is, an empty place on it, and what the package is compared with. */
const SERVERS = {
  redis: {
    url: process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379',
    makePlace: makePrefix,
    raw: RawRedis,
    minimum: MinimumRedis,
    filler: RedisFiller,
  },
  mariadb: {
    url: process.env.TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306',
    makePlace: makeMysqlDatabase,
    raw: RawMysql,
    minimum: MinimumMysql,
    filler: MysqlFiller,
  },
  postgres: {
    url: process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
    makePlace: makePostgresDatabase,
    raw: RawPostgres,
    minimum: MinimumPostgres,
    filler: PostgresFiller,
  },
};

export const SERVER_NAMES = Object.keys(SERVERS);

/**
 * Gives `work` both sides on a server, and removes every trace of them afterwards. Answers nothing, and says so,
 * where the server is not there.
 *
 * @template Result
 * @param {string} name
 * @param {(sides: { ours: Ours, raw: any, newStorage: () => import('../../dist/storage.js').SessionStorage, place: object }) => Promise<Result>} work
 * @param {'raw' | 'minimum' | 'filler'} [other] with what the package is compared
 * @returns {Promise<Result | undefined>}
 */
export async function withServer(name, work, other = 'raw') {
  const { url, makePlace, [other]: Other } = SERVERS[name];
  let place;
  try {
    place = await makePlace(url, `bench_${randomBytes(6).toString('hex')}`);
  } catch (error) {
    console.error(`\n${name} is left out, since it does not answer (${error.code ?? error.message})`);
    return undefined;
  }
  const ours = new Ours(place.newStorage());
  try {
    await ours.storage.open();
    await makeSharedState(ours.service);
    const raw = await place.open(Other);
    try {
      return await work({ ours, raw, newStorage: place.newStorage, place: place.options });
    } finally {
      await raw.close();
    }
  } finally {
    await ours.close();
    await place.remove();
  }
}

/** So that there is a place for shared state on both sides. */
async function makeSharedState(service) {
  const { appName, userId } = OWNER;
  await service.createSession({ appName, userId, state: { 'user:raw': '', 'app:raw': '' } });
}

async function makePrefix(url, name) {
  const prefix = `${name}:`;
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  await client.connect();
  return {
    options: { url, prefix },
    newStorage: () => new RedisSessionStorage({ url, prefix }),
    open: (Other) => Other.open(url, prefix),
    async remove() {
      for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1_000 })) {
        if (keys.length > 0) await client.unlink(keys);
      }
      await client.quit();
    },
  };
}

async function makeMysqlDatabase(url, name) {
  const server = await mysql.createConnection(url);
  await server.query(`CREATE DATABASE ${name}`);
  return sqlPlace(withDatabase(url, name), async () => {
    await server.query(`DROP DATABASE ${name}`);
    await server.end();
  });
}

async function makePostgresDatabase(url, name) {
  const server = new pg.Client(url);
  await server.connect();
  await server.query(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  return sqlPlace(withDatabase(url, name), async () => {
    await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await server.end();
  });
}

function sqlPlace(url, remove) {
  return {
    options: { url },
    newStorage: () => new TypeOrmSessionStorage({ url }),
    open: (Other) => Other.open(url),
    remove,
  };
}

function withDatabase(url, name) {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
