import { decide, noAnswer } from '../coordination/decide.js';
import { KnownEntries } from '../coordination/known-entries.js';
import { type LogMarks, joinMarks } from '../domain/retention/event-retention.js';
import { DAY_MS } from '../domain/values/expiry.js';
import { storedJson } from '../domain/stored/stored-json.js';
import type { EntryPlace, EntryStore, StoredEntry } from '../storage/entry-store.js';
import { newEntry } from '../storage/new-entry.js';

/** A log whose mark was not written for so long is read from its beginning. Those of deleted sessions go then. */
const KEPT_MS = 90 * DAY_MS;

/** How far logs were read, in their order: nothing of one that was never read, or only long ago. One request. */
export async function readMarks(entries: EntryStore, incarnations: readonly string[]): Promise<readonly LogMarks[]> {
  if (incarnations.length === 0) return [];
  const found = await entries.find(incarnations.map(toRetentionPlace));
  return found.entries.map((entry) => (entry ? marksIn(entry) : {}));
}

/** Notes how far a log was read. What another instance has read further stays. */
export async function writeMarks(entries: EntryStore, incarnation: string, marks: LogMarks): Promise<void> {
  const place = toRetentionPlace(incarnation);
  await decide(new KnownEntries(entries), { places: [place] }, (seen) => {
    const stored = seen.at(place);
    const text = JSON.stringify(stored ? joinMarks(marksIn(stored), marks) : marks);
    const next = newEntry(text, KEPT_MS);
    return { writes: [{ ...place, expected: stored?.stamp, next }], answer: noAnswer };
  });
}

function toRetentionPlace(incarnation: string): EntryPlace {
  return { space: 'retention', name: incarnation };
}

function marksIn({ text }: StoredEntry): LogMarks {
  return storedJson(text, 'a mark of the retention') as LogMarks;
}
