import { isFastLayer } from '../layer.js';
import { isEveryStoreWanted } from '../rounds.js';
import { type StoreName, chosenStoreNames } from '../store-names.js';
import { clusterNodes, redisUrl } from '../redis-store.js';
import { type SqlServer, mariaDbServer, postgresServer } from '../sql-servers.js';
import { newSharedDatabase, sharedDatabase } from './shared-databases.js';
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
  /** One that nobody has opened yet. */
  createNew(): Promise<SharedStore>;
}

const allSharedStores: readonly SharedStoreKind[] = [
  alwaysNew('sqlite', sharedSqlite),
  alwaysNew('redis', async () => sharedRedis(redisUrl)),
  alwaysNew('redis-cluster', async () => sharedRedisCluster(clusterNodes())),
  inDatabase(mariaDbServer),
  inDatabase(postgresServer),
];

function alwaysNew(name: StoreName, create: SharedStoreKind['create']): SharedStoreKind {
  return { name, create, createNew: create };
}

function inDatabase(server: SqlServer): SharedStoreKind {
  const { name } = server;
  return { name, create: () => sharedDatabase(server), createNew: () => newSharedDatabase(server) };
}

/** Names of {@link allSharedStores}, unless `STORES` names others or `ROUNDS=full` wants all. */
function namesUnlessAll(names: readonly StoreName[]): readonly StoreName[] {
  return isEveryStoreWanted ? allSharedStores.map(({ name }) => name) : names;
}

/** One of each kind, for what is built on the operations of stores; in the fast layer one. */
const usualNames = namesUnlessAll(isFastLayer ? ['redis'] : ['sqlite', 'redis', 'mariadb']);

/** All that can be shared; in the fast layer one of each kind. */
const everyName = namesUnlessAll(isFastLayer ? ['redis', 'postgres'] : allSharedStores.map(({ name }) => name));

/** One store of each kind, if `STORES` selects it. */
export const sharedStoreOfEachKind = sharedStoresNamed(usualNames).filter(({ name }) =>
  chosenStoreNames().includes(name),
);

/**
 * Describes processes that share a store, for stores that `STORES` selects; `$name` in the title is the store.
 *
 * @param names Default: one of each kind
 */
export function describeSharedStores(
  title: string,
  define: (store: SharedStoreKind) => void,
  names: readonly StoreName[] = usualNames,
): void {
  describeChosen(title, sharedStoresNamed(names), define);
}

/**
 * The same for all stores that can be shared, or one of each kind in the fast layer: for kills, races and what else depends
 * on the store.
 */
export function describeEveryStore(title: string, define: (store: SharedStoreKind) => void): void {
  describeChosen(title, sharedStoresNamed(everyName), define);
}

function sharedStoresNamed(names: readonly StoreName[]): readonly SharedStoreKind[] {
  return allSharedStores.filter(({ name }) => names.includes(name));
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
