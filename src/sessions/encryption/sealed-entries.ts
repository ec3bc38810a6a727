import type { EntryStore, EntryWrite, StoredEntry } from '../storage/entry-store.js';
import type { Open, OwnerCipher, Seal } from './owner-cipher.js';
import type { TextPlace } from './sealed-text.js';

/** Entries with words of people: why somebody was erased, and the labels of what is held. All others have ids, times and counts. */
const SPACES = new Set(['erasures', 'retention']);
/** They outlive users, whose keys are destroyed. */
const NOBODY = {};

/** The entries of a store, of which some are encrypted. */
export function sealedEntries(store: EntryStore, cipher: OwnerCipher): EntryStore {
  return {
    groups: store.groups,
    async find(places) {
      const found = await store.find(places);
      return cipher.opened((open) => ({ ...found, entries: found.entries.map((entry) => openedEntry(entry, open)) }));
    },
    async range(request) {
      const found = await store.range(request);
      return cipher.opened((open) => ({ ...found, entries: found.entries.map((entry) => opened(entry, open)) }));
    },
    async write(writes, news) {
      if (!writes.some(({ space }) => SPACES.has(space))) return store.write(writes, news);
      const { seal } = await cipher.sealing([NOBODY]);
      const outcome = await store.write(
        writes.map((write) => sealed(write, seal)),
        news,
      );
      if (outcome.kind === 'written') return outcome;
      return cipher.opened((open) => ({
        ...outcome,
        entries: outcome.entries.map((entry) => openedEntry(entry, open)),
      }));
    },
    count: (space) => store.count(space),
  };
}

function sealed(write: EntryWrite, seal: Seal): EntryWrite {
  const { space, name, next } = write;
  if (!SPACES.has(space) || !next || next === 'same') return write;
  return { ...write, next: { ...next, text: seal(NOBODY, placeOf({ space, name }), next.text) } };
}

function openedEntry(entry: StoredEntry | undefined, open: Open): StoredEntry | undefined {
  return entry && opened(entry, open);
}

function opened(entry: StoredEntry, open: Open): StoredEntry {
  if (!SPACES.has(entry.space)) return entry;
  return { ...entry, text: open(NOBODY, placeOf(entry), entry.text) };
}

function placeOf({ space, name }: Pick<StoredEntry, 'space' | 'name'>): TextPlace {
  return { field: `entry of ${space}`, id: name };
}
