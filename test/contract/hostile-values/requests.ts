import type { TestStore } from '../../support/stores.js';
import { expectRefusals, sharedSession } from './harness.js';
import { ILLEGAL_REQUESTS } from './tables/requests.js';

/** Refusals happen above the stores, so one store is enough. */
export function refusedRequests(store: TestStore): void {
  describe('requests', () => {
    const opened = sharedSession(store);

    it.each(ILLEGAL_REQUESTS)('%s is refused', async (_name, path, request) => {
      await expectRefusals(await opened(), [{ code: 'INVALID_INPUT', path, request }]);
    });
  });
}
