import { decide } from '../coordination/decide.js';
import { KnownEntries } from '../coordination/known-entries.js';
import { type UserKey, assertId } from '../domain/values/ids.js';
import { digestOf } from '../domain/values/json-digest.js';
import { storedJson } from '../domain/stored/stored-json.js';
import type { EntryPlace, StoredEntry } from '../storage/entry-store.js';
import { keptEntry } from '../storage/new-entry.js';
import type { SessionStorage } from '../storage/session-storage.js';

/** That a user was erased, and why. */
export interface Erasure {
  /** When that was last done, in epoch milliseconds. */
  readonly at: number;
  readonly reason: string;
  /** How many sessions were removed, by all calls together. */
  readonly sessions: number;
}

/** Keeps a note of an erasure. A repeated erasure adds to it. */
export async function noteErasure(
  { entries }: Pick<SessionStorage, 'entries'>,
  user: UserKey,
  { sessions, reason }: Pick<Erasure, 'sessions' | 'reason'>,
): Promise<void> {
  const place = toErasurePlace(user);
  await decide(new KnownEntries(entries), { places: [place] }, (seen) => {
    const stored = seen.at(place);
    const before = stored ? noteIn(stored).sessions : 0;
    const text = JSON.stringify({ reason, sessions: before + sessions });
    return { writes: [{ ...place, expected: stored?.stamp, next: keptEntry(text) }], answer: () => undefined };
  });
}

/** The note of an erasure. */
export async function findErasure(
  { entries }: Pick<SessionStorage, 'entries'>,
  { appName, userId }: UserKey,
): Promise<Erasure | undefined> {
  assertId(appName, 'appName');
  assertId(userId, 'userId');
  const [stored] = (await entries.find([toErasurePlace({ appName, userId })])).entries;
  return stored && { at: Math.floor(stored.since), ...noteIn(stored) };
}

function noteIn({ text }: StoredEntry): Pick<Erasure, 'reason' | 'sessions'> {
  return storedJson(text, 'a note of an erasure') as Pick<Erasure, 'reason' | 'sessions'>;
}

/** The name is a digest: who does not know the user learns nothing from it. */
function toErasurePlace({ appName, userId }: UserKey): EntryPlace {
  return { space: 'erasures', name: digestOf([appName, userId]) };
}
