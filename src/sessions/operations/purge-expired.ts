import { setImmediate } from 'node:timers/promises';
import { InvalidInputError } from '../domain/errors.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { PurgeCounts } from '../storage/session-storage.js';

const DEFAULT_BATCH_SIZE = 500;

/** Removes what expired, batch by batch, with room for other work in between. */
export async function purgeExpired(
  { storage }: SessionEnvironment,
  { batchSize = DEFAULT_BATCH_SIZE }: { batchSize?: number } = {},
): Promise<PurgeCounts> {
  if (!Number.isSafeInteger(batchSize) || batchSize < 1) {
    throw new InvalidInputError('must be a whole number from 1 on', 'batchSize');
  }
  let total: PurgeCounts = { sessions: 0, userStates: 0, appStates: 0 };
  for (;;) {
    const batch = await storage.purgeExpired(batchSize);
    total = {
      sessions: total.sessions + batch.sessions,
      userStates: total.userStates + batch.userStates,
      appStates: total.appStates + batch.appStates,
    };
    if (Math.max(batch.sessions, batch.userStates, batch.appStates) < batchSize) return total;
    await setImmediate();
  }
}
