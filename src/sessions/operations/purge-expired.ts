import { setImmediate } from 'node:timers/promises';
import { assertWholeNumber } from '../domain/values/input-checks.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { PurgeCounts, SessionStorage } from '../storage/session-storage.js';

const DEFAULT_BATCH_SIZE = 500;
/** Larger batches would delay appends. */
const LARGEST_BATCH = 10_000;

export interface PurgeOptions {
  /** Sessions and states per batch. Default 500. */
  readonly batchSize?: number | undefined;
  /** Stops between two batches. */
  readonly signal?: AbortSignal | undefined;
}

/** Removes expired sessions and states in batches, and yields to other work between batches. */
export async function purgeExpired(
  { storage }: SessionEnvironment,
  options?: PurgeOptions | null,
): Promise<PurgeCounts> {
  const batchSize = options?.batchSize ?? DEFAULT_BATCH_SIZE;
  assertWholeNumber(batchSize, { path: 'batchSize', from: 1, to: LARGEST_BATCH });
  let total: PurgeCounts = { sessions: 0, userStates: 0, appStates: 0 };
  for (;;) {
    const batch = await storage.purgeExpired(batchSize);
    total = {
      sessions: total.sessions + batch.sessions,
      userStates: total.userStates + batch.userStates,
      appStates: total.appStates + batch.appStates,
    };
    if (options?.signal?.aborted || Math.max(batch.sessions, batch.userStates, batch.appStates) < batchSize) break;
    await setImmediate();
  }
  await purgeTexts(storage, batchSize, options?.signal ?? undefined);
  return total;
}

/** What model requests named expires with its session. */
async function purgeTexts({ components }: SessionStorage, batchSize: number, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const count = await components?.purgeExpired(batchSize);
    if (count !== batchSize || signal?.aborted) return;
    await setImmediate();
  }
}
