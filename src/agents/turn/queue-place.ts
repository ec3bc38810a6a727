import { commitBytes } from '../../sessions/domain/batches.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import type { SessionService } from '../../sessions/session.service.js';
import { isTempKey } from '../../state/scopes.js';
import { type QueueEntry, type QueuedMessage, queueEntryOf } from './control-events.js';

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
export function placeOf(entry: QueueEntry): QueuePlace {
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
