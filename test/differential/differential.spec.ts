import fc from 'fast-check';
import { SessionService } from '../../src/index.js';
import { seed } from '../support/random.js';
import { storesAboveThePort } from '../support/stores.js';
import { operationsOf, settings } from './arbitraries.js';
import { manualClock } from './clock.js';
import { LockStep } from './lock-step.js';
import { Model } from './model/model.js';
import { compareAll, perform } from './perform.js';
import { TIMEOUT_MS, searching, sequencesOf } from './runs.js';

describe.each(storesAboveThePort)('SessionService on $name', (store) => {
  const { numRuns, length } = sequencesOf(store.name);

  it(
    `behaves like the model of the contract, ${numRuns} × ${length} operations, SEED=${seed}`,
    async () => {
      const behavesLikeModel = fc.asyncProperty(settings, operationsOf(length), async (configured, sequence) => {
        const clock = manualClock();
        const { ttl, ...history } = configured;
        const opened = await store.open({ clock });
        try {
          const service = new SessionService({
            storage: opened.storage,
            history,
            ttl,
            clock,
            onUnsavedState: () => undefined,
          });
          const step = new LockStep(service, new Model(configured, clock), clock);
          for (const next of sequence) await perform(step, next);
          await compareAll(step, opened.raw);
        } finally {
          await opened.destroy();
        }
      });
      await fc.assert(behavesLikeModel, { ...searching, numRuns });
    },
    TIMEOUT_MS,
  );
});
