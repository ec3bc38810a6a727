import { newStamp } from '../../sessions/domain/values/stamp.js';
import type { EntryOutcome, EntryWrite, NewEntry, StoredEntry } from '../../sessions/storage/entry-store.js';
import { NEVER } from '../../sessions/domain/values/expiry.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';

export const SPACE = 'jobs';

/** What a write leaves, with defaults for everything that is not given. */
export function newEntry(changes: Partial<NewEntry> = {}): NewEntry {
  return { stamp: newStamp(), rank: 0, since: 0, text: '', ttlMs: NEVER, ...changes };
}

/** The write of an entry that does not exist yet. */
export function addition(name: string, changes: Partial<NewEntry & { readonly space: string }> = {}): EntryWrite {
  const { space = SPACE, ...next } = changes;
  return { space, name, expected: undefined, next: newEntry(next) };
}

/** Writes, and fails if an entry is not as expected. */
export async function written(storage: SessionStorage, ...writes: readonly EntryWrite[]): Promise<void> {
  expect(await storage.entries.write(writes)).toMatchObject({ kind: 'written' });
}

/** The entry, if there is one. */
export async function findEntry(
  storage: SessionStorage,
  name: string,
  space = SPACE,
): Promise<StoredEntry | undefined> {
  return (await storage.entries.find([{ space, name }])).entries[0];
}

/** The entries that a refused write answers. */
export function currentIn(outcome: EntryOutcome): readonly (StoredEntry | undefined)[] {
  if (outcome.kind === 'written') throw new Error('The entries are written');
  return outcome.entries;
}
