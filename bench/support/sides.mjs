import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InMemorySessionStorage } from '../../dist/index.js';
import { TypeOrmSessionStorage } from '../../dist/typeorm.js';
import { MinimumMap } from './minimum/minimum-map.mjs';
import { MinimumSqlite } from './minimum/minimum-sqlite.mjs';
import { Ours } from './ours.mjs';
import { MemoryFiller, SqliteFiller } from './many-sessions.mjs';
import { RawMap } from './raw-map.mjs';
import { RawSqlite } from './raw-sqlite.mjs';

/**
 * One side of a comparison. It chooses the type of its sessions.
 *
 * @typedef {object} Side
 * @property {(sessionId: string) => unknown} create with the state `{ step: 0 }`
 * @property {(session: any, event: object) => unknown} append the event, and set the state key `step`
 * @property {(session: any, events: object[]) => unknown} fill the session the fastest way there is
 * @property {(session: any) => unknown} readAll the session with all its events, parsed
 * @property {(session: any, count: number) => unknown} readNewest the same with the newest events only
 * @property {(count: number) => unknown} list the first page of sessions, newest update first
 * @property {() => unknown} close
 */

/** The stores, each with what it is measured against. */
const STORES = {
  memory: {
    ours: (_directory, other) => new InMemorySessionStorage({ clock: other.clock }),
    raw: () => new RawMap(),
    minimum: () => new MinimumMap(),
    filler: () => new MemoryFiller(),
  },
  sqlite: {
    ours: (directory) => new TypeOrmSessionStorage({ database: join(directory, 'ours.db') }),
    raw: (directory) => RawSqlite.open(directory),
    minimum: (directory) => new MinimumSqlite(directory),
    filler: (directory) => new SqliteFiller(directory),
  },
};

export const STORE_NAMES = Object.keys(STORES);

/**
 * Gives `work` both sides of a store, fresh and empty, and removes every trace of them afterwards.
 *
 * @template Result
 * @param {string} store
 * @param {(sides: { ours: Ours, raw: any }, directory: string) => Promise<Result>} work
 * @param {'raw' | 'minimum' | 'filler'} [other] with what the package is compared
 * @returns {Promise<Result>}
 */
export async function withSides(store, work, other = 'raw') {
  const directory = await mkdtemp(join(tmpdir(), 'sessions-bench-'));
  const raw = await STORES[store][other](directory);
  const ours = new Ours(STORES[store].ours(directory, raw));
  try {
    return await work({ ours, raw }, directory);
  } finally {
    await ours.close();
    await raw.close();
    await rm(directory, { recursive: true });
  }
}
