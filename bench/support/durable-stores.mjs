import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisSessionStorage } from '../../dist/redis.js';
import { TypeOrmSessionStorage } from '../../dist/typeorm.js';
import { SERVER_NAMES, withServer } from './server-sides.mjs';

/** Opens a store at a place that {@link rowsOfStores} gave, in any process. */
export function openStorage(store, place) {
  return store === 'redis' ? new RedisSessionStorage(place) : new TypeOrmSessionStorage(place);
}

/**
 * What `rowsAt` measures at an empty place of each store that processes can share. The places are removed afterwards.
 *
 * @param {string[] | undefined} stores default: all
 * @param {(store: string, place: object) => Promise<object[]>} rowsAt
 */
export async function rowsOfStores(stores, rowsAt) {
  const isWanted = (store) => stores === undefined || stores.includes(store);
  const rows = isWanted('sqlite') ? await inFolder((place) => rowsAt('sqlite', place)) : [];
  for (const store of SERVER_NAMES.filter(isWanted)) {
    rows.push(...((await withServer(store, ({ place }) => rowsAt(store, place))) ?? []));
  }
  return rows;
}

async function inFolder(work) {
  const directory = await mkdtemp(join(tmpdir(), 'sessions-bench-'));
  try {
    return await work({ database: join(directory, 'sessions.db') });
  } finally {
    await rm(directory, { recursive: true });
  }
}
