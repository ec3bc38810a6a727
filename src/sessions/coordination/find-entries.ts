import type { FoundEntries, StoredEntry } from '../storage/entry-store.js';
import type { KnownEntries } from './known-entries.js';

const PAGE = 1_000;

/** The entries of a space with such names, page by page. Pages without any are left out. */
export async function* findWhere(
  entries: KnownEntries,
  space: string,
  isMeant: (name: string) => boolean,
): AsyncGenerator<FoundEntries, void, void> {
  let after: StoredEntry | undefined;
  do {
    const { now, entries: found } = await entries.range({ space, after, limit: PAGE });
    const meant = found.filter(({ name }) => isMeant(name));
    if (meant.length > 0) yield { now, entries: meant };
    after = found.length < PAGE ? undefined : found.at(-1);
  } while (after);
}

/** How many entries of a space have such names. */
export async function countWhere(
  entries: KnownEntries,
  space: string,
  isMeant: (name: string) => boolean,
): Promise<number> {
  let count = 0;
  for await (const { entries: found } of findWhere(entries, space, isMeant)) count += found.length;
  return count;
}
