import type { ConsumerStore } from '../storage/coordination.js';
import { consumerOf, startTime, wants } from './consumer-settings.js';

/** How much waits for a consumer. */
export interface ConsumerLag {
  /** Sessions with events that are not handled, those that are being handled included. */
  readonly sessions: number;
  /** Changed sessions that no instance has looked at yet, at most 1,000. Some of them may be in `sessions` too. */
  readonly undispatched: number;
  /** How long the oldest of them waits; 0 if none does. */
  readonly oldestWaitMs: number;
  readonly deadLetters: number;
}

const MAX_UNDISPATCHED = 1_000;

export async function lagOf(store: ConsumerStore, name: string): Promise<ConsumerLag | undefined> {
  const consumer = (await store.list()).map(consumerOf).find((known) => known.name === name);
  if (!consumer) return undefined;
  const changed = (await store.changed(MAX_UNDISPATCHED)).filter((session) => wants(consumer, session));
  const { sessions, oldestSince, deadLetters, now } = await store.lag(name);
  // A session that waited before the consumer began may have nothing for it.
  const times = changed.map(({ waitingSince }) => startTime(consumer, waitingSince) ?? waitingSince);
  const oldest = [...times, ...(oldestSince === undefined ? [] : [oldestSince])].reduce((a, b) => Math.min(a, b), now);
  return { sessions, undispatched: changed.length, oldestWaitMs: Math.max(0, Math.floor(now - oldest)), deadLetters };
}
