import { dueTime } from '../domain/background/agenda-limits.js';
import type { EntryPlace, EntryTime, NewEntry, StoredEntry } from './entry-store.js';

/**
 * The entry that a write at this time leaves.
 *
 * @example if (next) kept.set(name, writtenEntry({ space, name }, next, now));
 */
export function writtenEntry({ space, name }: EntryPlace, next: NewEntry, now: number): StoredEntry {
  const { stamp, rank, since, text } = next;
  return { space, name, stamp, rank: resolveEntryTime(rank, now), since: resolveEntryTime(since, now), text };
}

function resolveEntryTime(time: EntryTime, now: number): number {
  return typeof time === 'number' ? time : dueTime(now, time.inMs);
}
