import { NEVER } from '../domain/values/expiry.js';
import { newStamp } from '../domain/values/stamp.js';
import { type EntryTime, type NewEntry, PARKED } from './entry-store.js';

/**
 * An entry of the lowest rank, for a place of its own.
 *
 * @param since default: the time of the write
 * @example await entries.write([{ ...place, expected: undefined, next: newEntry(text, DAY_MS) }]);
 */
export function newEntry(text: string, ttlMs: number, since: EntryTime = { inMs: 0 }): NewEntry {
  return { stamp: newStamp(), rank: 0, since, text, ttlMs };
}

/** An entry that stays until it is replaced or removed, and is never due. */
export function keptEntry(text: string): NewEntry {
  return { ...newEntry(text, NEVER), rank: PARKED };
}
