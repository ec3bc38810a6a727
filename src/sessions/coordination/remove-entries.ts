import type { StoredEntry } from '../storage/entry-store.js';
import { decide, noAnswer } from './decide.js';
import { EntryView } from './entry-view.js';
import { findWhere } from './find-entries.js';
import type { KnownEntries } from './known-entries.js';

/** Removes the entries of a space with such names. */
export async function removeWhere(
  entries: KnownEntries,
  space: string,
  isMeant: (name: string) => boolean,
): Promise<void> {
  for await (const { now, entries: found } of findWhere(entries, space, isMeant)) {
    await removeFound(entries, found, now);
  }
}

/** Removes entries, also if they have changed since they were read. */
export async function removeFound(entries: KnownEntries, found: readonly StoredEntry[], now: number): Promise<void> {
  const begin = EntryView.of(now, found, found);
  await decide(entries, { places: found, begin }, (seen) => {
    const left = found.flatMap((place) => seen.at(place) ?? []);
    const writes = left.map(({ space, name, stamp }) => ({ space, name, expected: stamp, next: undefined }));
    return { ...(writes.length > 0 && { writes }), answer: noAnswer };
  });
}
