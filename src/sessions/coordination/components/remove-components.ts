import type { EntryPlace, EntryWrite } from '../../storage/entry-store.js';
import type { Decision } from '../decide.js';
import type { EntryView } from '../entry-view.js';
import { entryOfDue, liveHead, livePart } from './component-entries.js';
import { type SessionPlaces, placeOfPart } from './component-places.js';
import { discardTexts } from './discarded-texts.js';
import { type ChangedSession, headWrites } from './write-component.js';

/** Removes the head of a session, so that nobody sees the rest, which is due to be tidied. */
export function removeSession({ head, due }: SessionPlaces, seen: EntryView): Decision<boolean> {
  const stored = seen.at(head);
  if (!stored) return { answer: () => false };
  return {
    writes: [
      { ...head, expected: stored.stamp, next: undefined },
      { ...due, expected: seen.at(due)?.stamp, next: entryOfDue(0) },
    ],
    answer: () => true,
  };
}

/** The places of the value and the list of a name. */
export function placesOfName(places: SessionPlaces, name: string): readonly EntryPlace[] {
  return (['value', 'list'] as const).map((kind) => placeOfPart(places, { name, kind }));
}

/** Removes value and list of a name, and the session if it has nothing else. */
export function removeName(
  name: string,
  places: SessionPlaces,
  seen: EntryView,
): Decision<Pick<ChangedSession<void>, 'isGarbageLeft'>> {
  const stored = seen.at(places.head);
  const head = liveHead(stored, seen.now);
  const found = placesOfName(places, name).flatMap((place) => {
    const part = livePart(seen.at(place), head);
    return part ? [{ place, part }] : [];
  });
  if (!head || !stored || found.length === 0) return { answer: () => ({ isGarbageLeft: false }) };
  const parts = head.parts - found.length;
  if (parts <= 0) {
    const { writes, answer } = removeSession(places, seen);
    return { writes, answer: (now) => ({ isGarbageLeft: answer(now) }) };
  }
  const { writes, isGarbageLeft } = discardTexts(
    places,
    found.map(({ part }) => part),
    seen,
  );
  const removed = found.map(({ place }): EntryWrite => ({
    ...place,
    expected: seen.at(place)?.stamp,
    next: undefined,
  }));
  const expiry = { at: stored.since, now: seen.now };
  return {
    writes: [...headWrites({ ...head, parts }, expiry, isGarbageLeft, places, seen), ...removed, ...writes],
    answer: () => ({ isGarbageLeft }),
  };
}
