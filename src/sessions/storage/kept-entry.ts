import { NEVER } from '../domain/expiry.js';
import { newStamp } from '../domain/stamp.js';
import { type NewEntry, PARKED } from './entry-store.js';

/** An entry that stays until it is replaced or removed, and is never due. */
export function keptEntry(text: string): NewEntry {
  return { stamp: newStamp(), rank: PARKED, since: { inMs: 0 }, text, ttlMs: NEVER };
}
