import { describeSessionService, sessionsOver } from '../../src/testing/index.js';
import { OverReturningStorage } from '../support/over-returning-storage.js';
import { isFastLayer } from '../support/layer.js';
import { storesAboveThePort } from '../support/stores.js';

for (const { name, open } of storesAboveThePort) describeSessionService({ name, create: sessionsOver(open) });

// The same again: the fast layer asks one store.
if (!isFastLayer)
  describeSessionService({
    name: 'a store that returns more than was requested',
    create: sessionsOver(async ({ clock }) => {
      const storage = new OverReturningStorage({ clock });
      return { storage, raw: async () => storage.snapshot(), destroy: async () => storage.close() };
    }),
  });
