import type { Clock } from '../../src/sessions/domain/process/clock.js';
import { InMemorySessionStorage } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { isFastLayer } from './layer.js';
import { openMariaDb } from './mariadb-store.js';
import { openPostgres } from './postgres-store.js';
import { openRedisCluster } from './redis-cluster-store.js';
import { openRedis } from './redis-store.js';
import { isEveryStoreWanted } from './rounds.js';
import { openSqlite } from './sqlite-store.js';
import { chosenStoreNames, type StoreName } from './store-names.js';

/** A store that the suites run against. */
export interface TestStore {
  readonly name: StoreName;
  open(options: { clock?: Clock | undefined }): Promise<OpenStorage>;
}

const openers: Readonly<Record<StoreName, TestStore['open']>> = {
  async memory({ clock }) {
    const storage = new InMemorySessionStorage({ clock });
    return { storage, raw: async () => storage.snapshot(), destroy: () => storage.close() };
  },
  sqlite: openSqlite,
  redis: openRedis,
  'redis-cluster': openRedisCluster,
  mariadb: openMariaDb,
  postgres: openPostgres,
};

/** All stores, or those that `STORES` names. */
export const testStores: readonly TestStore[] = chosenStoreNames().map((name) => ({ name, open: openers[name] }));

/**
 * The first of {@link testStores}: for rules that are made above the stores, and for refusals. `STORES` can name another
 * one.
 */
export const firstStore: readonly TestStore[] = testStores.slice(0, 1);

/** All stores for what is built on the port of stores; in the fast layer the first, because the port is tested on all there. */
export const storesAboveThePort = isFastLayer && !isEveryStoreWanted ? firstStore : testStores;

/** The stores that encode values differently. A cluster gets the same scripts and texts as a single server. */
export const storeOfEachEncoding = chosenOf(['memory', 'sqlite', 'redis', 'mariadb', 'postgres']);

/** One store of each kind: for what is built on the operations of stores, which the contract proves on all of them. */
export const storeOfEachKind = chosenOf(['memory', 'redis', 'postgres']);

/** Some of {@link testStores}, and the first in the fast layer. `STORES` can name others, and `ROUNDS=full` means all. */
function chosenOf(names: readonly StoreName[]): readonly TestStore[] {
  return isEveryStoreWanted ? testStores : storesAboveThePort.filter(({ name }) => names.includes(name));
}
