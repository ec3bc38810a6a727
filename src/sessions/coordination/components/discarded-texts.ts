import { newStamp } from '../../domain/values/stamp.js';
import type { EntryPlace, EntryWrite } from '../../storage/entry-store.js';
import type { EntryView } from '../entry-view.js';
import { type ComponentPart, entryOfPart } from './component-entries.js';
import { type PlacesOfParts, type SessionPlaces, placeOfGarbage, placeOfText } from './component-places.js';

/** A write that leaves more text entries behind lets others remove them. */
const MOST_REMOVED_AT_ONCE = 200;
/** No session has this incarnation, so its parts are garbage. */
const NO_INCARNATION = 0;

/** An entry with the stamp that it has if it was not changed. */
export interface StampedPlace extends EntryPlace {
  readonly stamp: number;
}

/** The text entries of a part. */
export function textPlacesOf(
  places: PlacesOfParts,
  { generation, entries }: Pick<ComponentPart, 'generation' | 'entries'>,
): StampedPlace[] {
  return Array.from({ length: entries }, (_, index) => ({
    ...placeOfText(places, generation, index),
    stamp: generation,
  }));
}

/** What becomes of the text entries of parts that nobody needs any more. */
export interface DiscardedTexts {
  readonly writes: readonly EntryWrite[];
  /** Whether some stay as garbage, so that the session is to be tidied. */
  readonly isGarbageLeft: boolean;
}

/** Removes the text entries of parts; if there are many, it only notes that they are garbage. */
export function discardTexts(places: SessionPlaces, parts: readonly ComponentPart[], seen: EntryView): DiscardedTexts {
  const writes: EntryWrite[] = [];
  let isGarbageLeft = false;
  for (const part of parts) {
    if (writes.length + part.entries <= MOST_REMOVED_AT_ONCE) {
      // One that is damaged may lack some of them.
      for (const { stamp, ...place } of textPlacesOf(places, part)) {
        writes.push({ ...place, expected: seen.has(place) ? seen.at(place)?.stamp : stamp, next: undefined });
      }
    } else {
      const next = entryOfPart({ ...part, incarnation: NO_INCARNATION, tail: [] });
      writes.push({ ...placeOfGarbage(places, newStamp()), expected: undefined, next });
      isGarbageLeft = true;
    }
  }
  return { writes, isGarbageLeft };
}
