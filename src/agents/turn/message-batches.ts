import { type BatchLimits, inBatches } from '../../sessions/domain/batches.js';
import { environmentBehind } from '../../sessions/service-environment.js';
import type { SessionService } from '../../sessions/session.service.js';
import { inQueueOrder } from './control-events.js';
import type { QueuePlace } from './queue-place.js';

/**
 * How much one run takes at once of the messages that wait: half of a commit, which also has events of its own. So a run never holds
 * more, however much waits.
 */
export function batchLimitsOf(sessions: SessionService): BatchLimits<QueuePlace> {
  const { maxBatchBytes, maxBatchEvents } = environmentBehind(sessions).limits;
  const items = Math.max(1, Math.floor(maxBatchEvents / 2));
  return { items, weight: Math.floor(maxBatchBytes / 2), weightOf: ({ bytes = 0 }) => bytes };
}

/** The messages that are answered with this one, in order. All who know the same messages get the same batches. */
export function batchWith(
  own: QueuePlace,
  others: readonly QueuePlace[],
  limits: BatchLimits<QueuePlace>,
): readonly QueuePlace[] {
  const batches = inBatches(inQueueOrder([...others, own]), limits);
  return batches.find((batch) => batch.includes(own)) ?? [own];
}

/** Whether this message is the one that answers the first batch: its newest. */
export function leadsFirstBatch(
  own: QueuePlace,
  others: readonly QueuePlace[],
  limits: BatchLimits<QueuePlace>,
): boolean {
  return inBatches(inQueueOrder([...others, own]), limits)[0]?.at(-1) === own;
}
