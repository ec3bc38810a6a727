import { dueTime } from '../domain/background/agenda-limits.js';
import { NEVER } from '../domain/values/expiry.js';
import type { StoredConsumer } from '../storage/coordination.js';
import type { EntryPlace, StoredEntry } from '../storage/entry-store.js';
import { newEntry } from '../storage/new-entry.js';
import type { Decision } from './decide.js';
import type { EntryView } from './entry-view.js';

export const CONSUMERS = 'consumer';

export function placeOfConsumer(name: string): EntryPlace {
  return { space: CONSUMERS, name };
}

export function consumerIn({ name, since, text }: StoredEntry): StoredConsumer {
  return { name, registeredAt: since, settings: text };
}

/**
 * Stores a consumer, unless there is one of this name.
 *
 * @param lagMs how much earlier it counts as registered, so that no event which is appended after it looks older
 */
export function registerConsumer(
  name: string,
  settings: string,
  lagMs: number,
  seen: EntryView,
): Decision<StoredConsumer> {
  const place = placeOfConsumer(name);
  const stored = seen.at(place);
  if (stored) return { answer: () => consumerIn(stored) };
  const next = newEntry(settings, NEVER, { inMs: -lagMs });
  return {
    writes: [{ ...place, expected: undefined, next }],
    answer: (now) => ({ name, registeredAt: dueTime(now, -lagMs), settings }),
  };
}
