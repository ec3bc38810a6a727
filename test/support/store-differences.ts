import type { Skip } from '../../src/testing/contract-runner.js';
import type { StoreName } from './store-names.js';

/** Promises that a store does not keep. Its page in docs/providers says it to users. */
export const STORE_DIFFERENCES: Partial<Record<StoreName, readonly Skip[]>> = {
  'redis-cluster': [
    {
      reason: 'on a cluster, the state of an app is in another slot than its sessions',
      tests: ['racing commits never make the state of the app larger than it may be'],
    },
  ],
};
