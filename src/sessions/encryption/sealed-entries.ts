import type { EntryPlace, EntryStore, EntryWrite, StoredEntry } from '../storage/entry-store.js';
import type { OwnerCipher, Seal } from './owner-cipher.js';
import type { TextPlace } from './sealed-text.js';

/** Entries with words of people: why somebody was erased, and the labels of what is held. All others have ids, times and counts. */
const SPACES = new Set(['erasures', 'retention']);
/** They outlive users, whose keys are destroyed. */
const NOBODY = {};

/** The entries of a store, of which some are encrypted. */
export function sealedEntries(store: EntryStore, cipher: OwnerCipher): EntryStore {
  /** Most entries are as they are. */
  const openedIn = async <Entry extends StoredEntry | undefined>(
    entries: readonly Entry[],
  ): Promise<readonly Entry[]> => {
    if (!entries.some(isSealed)) return entries;
    return cipher.opened((open) =>
      entries.map((entry) =>
        isSealed(entry) ? { ...entry, text: open(NOBODY, toEntryTextPlace(entry), entry.text) } : entry,
      ),
    );
  };
  return {
    groups: store.groups,
    async find(places) {
      const found = await store.find(places);
      return { ...found, entries: await openedIn(found.entries) };
    },
    async range(request) {
      const found = await store.range(request);
      return { ...found, entries: await openedIn(found.entries) };
    },
    async write(writes, news) {
      if (!writes.some(isSealed)) return store.write(writes, news);
      const { seal } = await cipher.sealing([NOBODY]);
      const outcome = await store.write(
        writes.map((write) => sealed(write, seal)),
        news,
      );
      return outcome.kind === 'written' ? outcome : { ...outcome, entries: await openedIn(outcome.entries) };
    },
    count: (space) => store.count(space),
  };
}

function isSealed<Entry extends EntryPlace | undefined>(entry: Entry): entry is Entry & EntryPlace {
  return entry !== undefined && SPACES.has(entry.space);
}

function sealed(write: EntryWrite, seal: Seal): EntryWrite {
  const { next } = write;
  if (!isSealed(write) || !next || next === 'same') return write;
  return { ...write, next: { ...next, text: seal(NOBODY, toEntryTextPlace(write), next.text) } };
}

function toEntryTextPlace({ space, name }: EntryPlace): TextPlace {
  return { field: `entry of ${space}`, id: name };
}
