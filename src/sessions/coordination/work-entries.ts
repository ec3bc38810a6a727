import type { WorkEntry } from '../domain/background/consumer-work.js';
import { NEVER } from '../domain/values/expiry.js';
import type { UserKey } from '../domain/values/ids.js';
import { newStamp } from '../domain/values/stamp.js';
import { storedJson } from '../domain/stored/stored-json.js';
import type { EntryPlace, EntryTime, NewEntry, StoredEntry } from '../storage/entry-store.js';

/** No id has a control character, and no incarnation. */
const SEPARATOR = '\u001F';

/** What the entry says. Its rank is when the work is due, or parked for a dead letter. */
type WorkText = Pick<WorkEntry, 'seq' | 'upTo' | 'tries' | 'claim' | 'problem'>;

export function spaceOfWork(consumer: string): string {
  return `work:${consumer}`;
}

/** The place of work on a session, or of one of its dead letters. Its name has at most 700 bytes. */
export function placeOfWork({
  consumer,
  key,
  incarnation,
  letterSeq,
}: Pick<WorkEntry, 'consumer' | 'key' | 'incarnation' | 'letterSeq'>): EntryPlace {
  const name = workPrefixOf(key) + [key.sessionId, incarnation, letterSeq].join(SEPARATOR);
  return { space: spaceOfWork(consumer), name };
}

/** How the names of all work on the sessions of a user begin. */
export function workPrefixOf({ appName, userId }: UserKey): string {
  return [appName, userId, ''].join(SEPARATOR);
}

export function workIn({ space, name, since, text }: StoredEntry): WorkEntry {
  const [appName = '', userId = '', sessionId = '', incarnation = '', letterSeq] = name.split(SEPARATOR);
  return {
    consumer: space.slice(spaceOfWork('').length),
    key: { appName, userId, sessionId },
    incarnation,
    letterSeq: Number(letterSeq),
    ...(storedJson(text, 'work of a consumer') as WorkText),
    since,
  };
}

/** The entry to write for work that is due then. */
export function entryOfWork({ seq, upTo, tries, claim, problem, since }: WorkEntry, rank: EntryTime): NewEntry {
  const text = JSON.stringify({ seq, upTo, tries, claim, problem } satisfies WorkText);
  return { stamp: newStamp(), rank, since, text, ttlMs: NEVER };
}
