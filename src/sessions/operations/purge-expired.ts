import { setImmediate } from 'node:timers/promises';
import { InvalidInputError } from '../domain/errors.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { PurgeCounts } from '../storage/session-storage.js';

const DEFAULT_BATCH_SIZE = 500;
/** Larger ones would keep appends waiting, which batches are there to avoid. */
const LARGEST_BATCH = 10_000;

export interface PurgeOptions {
  /** Sessions and states removed at a time; 500 unless given. */
  readonly batchSize?: number | undefined;
  /** Ends it early, between two batches. */
  readonly signal?: AbortSignal | undefined;
}

/** Removes what expired, batch by batch, with room for other work in between. */
export async function purgeExpired(
  { storage }: SessionEnvironment,
  options?: PurgeOptions | null,
): Promise<PurgeCounts> {
  const batchSize = options?.batchSize ?? DEFAULT_BATCH_SIZE;
  if (!Number.isSafeInteger(batchSize) || batchSize < 1 || batchSize > LARGEST_BATCH) {
    throw new InvalidInputError(`must be a whole number from 1 to ${LARGEST_BATCH}`, 'batchSize');
  }
  let total: PurgeCounts = { sessions: 0, userStates: 0, appStates: 0 };
  for (;;) {
    const batch = await storage.purgeExpired(batchSize);
    total = {
      sessions: total.sessions + batch.sessions,
      userStates: total.userStates + batch.userStates,
      appStates: total.appStates + batch.appStates,
    };
    if (options?.signal?.aborted || Math.max(batch.sessions, batch.userStates, batch.appStates) < batchSize)
      return total;
    await setImmediate();
  }
}
