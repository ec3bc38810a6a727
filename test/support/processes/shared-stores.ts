import { type StoreName, chosenStoreNames } from '../store-names.js';
import { clusterNodes, redisUrl } from '../redis-store.js';
import { mariaDbServer, postgresServer } from '../sql-servers.js';
import { sharedDatabase } from './shared-databases.js';
import { sharedRedis, sharedRedisCluster } from './shared-redis.js';
import { sharedSqlite } from './shared-sqlite.js';
import type { StoreDescription } from './store-description.js';

/** A store for several processes, which is not open yet. */
export interface SharedStore {
  readonly description: StoreDescription;
  /**
   * Waits until the server has ended every connection to this store. It may still carry out the last commands of a
   * killed process, so call this, with nothing of your own open, before you read what that process left.
   */
  settle(): Promise<void>;
  /** Throws if the idle store is inconsistent. */
  checkIntegrity(): Promise<void>;
  /** Removes it with everything in it. */
  destroy(): Promise<void>;
}

export interface SharedStoreKind {
  readonly name: StoreName;
  create(): Promise<SharedStore>;
}

const allSharedStores: readonly SharedStoreKind[] = [
  { name: 'sqlite', create: sharedSqlite },
  { name: 'redis', create: async () => sharedRedis(redisUrl) },
  { name: 'redis-cluster', create: async () => sharedRedisCluster(clusterNodes()) },
  { name: 'mariadb', create: () => sharedDatabase(mariaDbServer) },
  { name: 'postgres', create: () => sharedDatabase(postgresServer) },
];

/** The stores that can be shared and that `STORES` selects. */
export const sharedStores = allSharedStores.filter(({ name }) => chosenStoreNames().includes(name));

/**
 * Describes processes that share a store, for each store that can be shared and that `STORES`
 * selects; `$name` in the title is its name.
 *
 * @param names only these
 */
export function describeSharedStores(
  title: string,
  define: (store: SharedStoreKind) => void,
  names?: readonly StoreName[],
): void {
  describeChosen(title, names ? allSharedStores.filter(({ name }) => names.includes(name)) : allSharedStores, define);
}

/** The same for any stores that have a name. */
export function describeChosen<Store extends { readonly name: StoreName }>(
  title: string,
  stores: readonly Store[],
  define: (store: Store) => void,
): void {
  const chosen = stores.filter(({ name }) => chosenStoreNames().includes(name));
  for (const store of chosen) describe(title.replace('$name', store.name), () => define(store));
  if (chosen.length === 0) it('has no store to share', () => expect(chosen).toEqual([]));
}
