import type { StoredEntry } from '../storage/entry-store.js';
import { decide, noAnswer } from './decide.js';
import { EntryView } from './entry-view.js';
import type { KnownEntries } from './known-entries.js';

const PAGE = 1_000;

/** Removes the entries of a space with such names. */
export async function removeWhere(
  entries: KnownEntries,
  space: string,
  isMeant: (name: string) => boolean,
): Promise<void> {
  let after: StoredEntry | undefined;
  do {
    const { now, entries: found } = await entries.range({ space, after, limit: PAGE });
    const meant = found.filter(({ name }) => isMeant(name));
    if (meant.length > 0) await removeFound(entries, meant, now);
    after = found.length < PAGE ? undefined : found.at(-1);
  } while (after);
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
