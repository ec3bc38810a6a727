import { inBatches } from '../../domain/stored/batches.js';
import { NEVER } from '../../domain/values/expiry.js';
import { DamagedDataError } from '../../domain/stored/stored-json.js';
import { type EntryWrite, PARKED, type StoredEntry } from '../../storage/entry-store.js';
import { decide, noAnswer } from '../decide.js';
import { EntryView } from '../entry-view.js';
import type { KnownEntries } from '../known-entries.js';
import { entryOfDue, entryOfHead, liveHead, partIn } from './component-entries.js';
import type { PlacesOfParts, SessionPlaces } from './component-places.js';
import { type StampedPlace, textPlacesOf } from './discarded-texts.js';

const PARTS_PER_PAGE = 100;
const REMOVED_AT_ONCE = { items: 500 };

/**
 * Removes what belongs to no incarnation of a session that lives, step by step, then the entry that said to look, or moves it on.
 * Returns whether the session is gone.
 *
 * @param due the entry that said to look. If it has changed since, others look after the session.
 */
export async function tidySession(entries: KnownEntries, places: SessionPlaces, due: StoredEntry): Promise<boolean> {
  let removed: readonly StampedPlace[] = [];
  let before: EntryView | undefined;
  for await (const page of pagesOfParts(entries, places)) {
    // Read after the parts: a session that has begun since then is not taken for one that is gone.
    const seen = await entries.find([places.head]);
    before = seen;
    const incarnation = liveHead(seen.at(places.head), seen.now)?.incarnation;
    const garbage = page.filter((part) => incarnationIn(part) !== incarnation);
    const batches = inBatches(
      [...removed, ...garbage.flatMap((part) => listPartPlaces(places, part))],
      REMOVED_AT_ONCE,
    );
    for (const batch of batches.slice(0, -1)) await removeUnchanged(entries, batch);
    removed = batches.at(-1) ?? [];
  }
  before ??= await entries.find([places.head]);
  return settle(entries, { places, due, removed, before });
}

/** All parts under a session's places, also those that are garbage. */
export async function* pagesOfParts(
  entries: KnownEntries,
  { spaces, prefix }: PlacesOfParts,
): AsyncGenerator<readonly StoredEntry[]> {
  let after: Pick<StoredEntry, 'rank' | 'name'> | undefined = { rank: PARKED, name: prefix };
  while (after) {
    const { entries: found } = await entries.range({ space: spaces.parts, after, limit: PARTS_PER_PAGE });
    const own = found.filter(({ name }) => name.startsWith(prefix));
    if (own.length > 0) yield own;
    after = own.length < PARTS_PER_PAGE ? undefined : own.at(-1);
  }
}

function incarnationIn(part: StoredEntry): number | 'damaged' {
  return readable(part)?.incarnation ?? 'damaged';
}

/** The text entries of a part, then the part, so that what is left can be found. */
function listPartPlaces(places: SessionPlaces, { space, name, stamp, text }: StoredEntry): readonly StampedPlace[] {
  const part = readable({ text });
  return [...(part ? textPlacesOf(places, part) : []), { space, name, stamp }];
}

function readable(stored: Pick<StoredEntry, 'text'>): ReturnType<typeof partIn> | undefined {
  try {
    return partIn(stored);
  } catch (error) {
    if (error instanceof DamagedDataError) return undefined;
    throw error;
  }
}

async function removeUnchanged(entries: KnownEntries, places: readonly StampedPlace[]): Promise<void> {
  await decide(entries, { places, begin: createExpectedView(0, places) }, (seen) => {
    const writes = removals(places, seen);
    return { ...(writes.length > 0 && { writes }), answer: noAnswer };
  });
}

/** What is left to do once all parts were looked at. */
interface Settlement {
  readonly places: SessionPlaces;
  readonly due: StoredEntry;
  readonly removed: readonly StampedPlace[];
  /** The head as it was read last: the write compares it. */
  readonly before: EntryView;
}

async function settle(entries: KnownEntries, { places, due, removed, before }: Settlement): Promise<boolean> {
  const { head: headPlace, due: duePlace } = places;
  const begin = createExpectedView(before.now, [...removed, due]).after(
    before.now,
    [headPlace],
    [before.at(headPlace)],
  );
  return decide(entries, { places: [headPlace, duePlace, ...removed], begin }, (seen) => {
    const stored = seen.at(headPlace);
    const head = liveHead(stored, seen.now);
    const writes: EntryWrite[] = [...removals(removed, seen)];
    if (seen.at(duePlace)?.stamp === due.stamp) {
      const expiresAt = head && stored ? stored.since : NEVER;
      const dueAt = expiresAt < NEVER ? expiresAt : undefined;
      const nextHead = head && entryOfHead({ ...head, due: dueAt }, { at: expiresAt, now: seen.now });
      writes.push(
        { ...headPlace, expected: stored?.stamp, next: nextHead },
        { ...duePlace, expected: due.stamp, next: dueAt === undefined ? undefined : entryOfDue(dueAt) },
      );
    }
    return { ...(writes.length > 0 && { writes }), answer: () => head === undefined };
  });
}

function removals(places: readonly StampedPlace[], seen: EntryView): EntryWrite[] {
  return places
    .filter((place) => seen.at(place)?.stamp === place.stamp)
    .map(({ space, name, stamp }) => ({ space, name, expected: stamp, next: undefined }));
}

/** What is expected at these places. */
function createExpectedView(now: number, places: readonly StampedPlace[]): EntryView {
  const entries = places.map((place): StoredEntry => ({ rank: PARKED, since: 0, text: '', ...place }));
  return EntryView.of(now, places, entries);
}
