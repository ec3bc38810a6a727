import type { Skip } from '../../src/testing/contract-runner.js';
import { entries, racingEntries } from '../../src/testing/storage-contract/entries.js';
import { entryExpiry, entryOrder } from '../../src/testing/storage-contract/entry-order.js';
import type { StoreName } from './store-names.js';

const NO_ENTRIES: Skip = {
  reason: 'the store has leases, an agenda and work of their own',
  tests: [entries, racingEntries, entryOrder, entryExpiry].flatMap(({ tests }) => tests.map(({ title }) => title)),
};

/** Promises that a store does not keep. Its page in docs/providers says it to users. */
export const STORE_DIFFERENCES: Partial<Record<StoreName, readonly Skip[]>> = {
  sqlite: [NO_ENTRIES],
  postgres: [NO_ENTRIES],
  mariadb: [NO_ENTRIES],
  redis: [NO_ENTRIES],
  'redis-cluster': [
    NO_ENTRIES,
    {
      reason: 'on a cluster, the state of an app is in another slot than its sessions',
      tests: ['racing commits never make the state of the app larger than it may be'],
    },
  ],
};
