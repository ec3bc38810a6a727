import { type BatchLimits, commitBytes, inBatches } from '../../sessions/domain/stored/batches.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { environmentBehind } from '../../sessions/service-environment.js';
import type { SessionService } from '../../sessions/session.service.js';
import { isTempKey } from '../../state/scopes.js';
import { type QueueEntry, type QueuedMessage, inQueueOrder, queueEntryOf } from './control-events.js';

/** What a waiting message brings. */
export type Brought = Pick<QueuedMessage, 'message' | 'stateDelta' | 'customMetadata'>;

/** A message that waits, perhaps without what it brings, which is in the log. */
export type QueuePlace = Omit<QueueEntry, keyof Brought> &
  Partial<Brought> & {
    /** The size of what it brings. */
    readonly bytes?: number;
  };

/** Larger messages are read again when their turn comes, so that those that wait need no memory. */
export const MOST_HELD_BYTES = 16_384;

/** The size of what a message brings, as JSON. */
export function broughtBytes({ message, stateDelta, customMetadata }: Partial<Brought>): number {
  return commitBytes([message, stateDelta, customMetadata]);
}

/** What has to be remembered of a message that waits. */
export function toQueuePlace(entry: QueueEntry): QueuePlace {
  const bytes = broughtBytes(entry);
  if (bytes <= MOST_HELD_BYTES) return { ...entry, bytes };
  const { message: _message, stateDelta: _stateDelta, customMetadata: _customMetadata, ...place } = entry;
  return { ...place, bytes };
}

/** Whether it has what it brings. */
export function isWhole(place: QueuePlace): place is QueueEntry {
  return place.message !== undefined;
}

/** The same messages with what they bring, in this order. Those that were trimmed with their history are missing. */
export async function readMessages(
  { sessions }: { readonly sessions: SessionService },
  key: SessionKey,
  places: readonly QueuePlace[],
): Promise<QueueEntry[]> {
  const entries: QueueEntry[] = [];
  for (const place of places) {
    if (isWhole(place)) {
      entries.push(place);
      continue;
    }
    const { events } = await sessions.listEvents({ ...key, afterSeq: place.seq - 1, limit: 1 });
    const entry = events.map(queueEntryOf).find((found) => found?.invocationId === place.invocationId);
    if (entry) entries.push(entry);
  }
  return entries;
}

/** The `temp:` keys among changes of the state, which the log has not. */
export function tempOf(stateDelta: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> | undefined {
  const temp = Object.entries(stateDelta ?? {}).filter(([key]) => isTempKey(key));
  return temp.length > 0 ? Object.fromEntries(temp) : undefined;
}

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
