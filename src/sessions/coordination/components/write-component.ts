import {
  type ComponentWrite,
  type ComponentWriteOutcome,
  componentWriteOutcome,
} from '../../domain/stored/component.js';
import { NEVER } from '../../domain/values/expiry.js';
import { newStamp } from '../../domain/values/stamp.js';
import type { EntryWrite, StoredEntry } from '../../storage/entry-store.js';
import type { Decision } from '../decide.js';
import type { EntryView } from '../entry-view.js';
import {
  type SessionExpiry,
  type SessionHead,
  entryOfDue,
  entryOfHead,
  entryOfPart,
  entryOfTexts,
  liveHead,
  livePart,
  partIn,
} from './component-entries.js';
import { type SessionPlaces, placeOfPart, placeOfText } from './component-places.js';
import { discardTexts } from './discarded-texts.js';
import { packTexts } from './pack-texts.js';

/** What a change of a session did. */
export interface ChangedSession<Outcome> {
  readonly outcome: Outcome;
  /** Whether it left garbage. */
  readonly isGarbageLeft: boolean;
}

/** Writes a value or a list, and moves the expiry of its session, if the write fits. */
export function writeComponent(
  write: ComponentWrite,
  places: SessionPlaces,
  seen: EntryView,
): Decision<ChangedSession<ComponentWriteOutcome>> {
  const place = placeOfPart(places, write.place);
  const [storedHead, storedPart] = [seen.at(places.head), seen.at(place)];
  const head = liveHead(storedHead, seen.now);
  const part = livePart(storedPart, head);
  const outcome = componentWriteOutcome(part, write);
  if (outcome.kind === 'conflict') return { answer: () => ({ outcome, isGarbageLeft: false }) };

  const isSame = outcome.version === part?.version;
  const { added, ...packed } = packTexts(write, part);
  // What an incarnation before left at this place goes, too.
  const replaced = storedPart && write.keep === 0 && !isSame ? [partIn(storedPart)] : [];
  const { writes: discarded, isGarbageLeft } = discardTexts(places, replaced, seen);
  const incarnation = head?.incarnation ?? newStamp();
  const next = entryOfPart({
    session: places.session,
    incarnation,
    version: outcome.version,
    length: write.keep + write.texts.length,
    digest: write.digest,
    ...packed,
  });
  const first = packed.entries - added.length;
  const texts = added.map((some, index): EntryWrite => {
    const at = placeOfText(places, packed.generation, first + index);
    return { ...at, expected: undefined, next: entryOfTexts(some, packed.generation) };
  });
  const isHeadChanged = !part || write.ttlMs !== undefined || isGarbageLeft;
  const parts = (head?.parts ?? 0) + (part ? 0 : 1);
  const expiry = expiryAfter(write, storedHead, head, seen.now);
  return {
    writes: [
      ...(isHeadChanged
        ? headWrites({ incarnation, parts, due: head?.due }, expiry, isGarbageLeft, places, seen)
        : [{ ...places.head, expected: storedHead?.stamp, next: 'same' as const }]),
      { ...place, expected: storedPart?.stamp, next: isSame ? 'same' : next },
      ...texts,
      ...discarded,
    ],
    answer: () => ({ outcome, isGarbageLeft }),
  };
}

/** Writes the head of a session and, if it expires earlier than anybody would look or has garbage, when to look at it. */
export function headWrites(
  head: SessionHead,
  expiry: SessionExpiry,
  isGarbageLeft: boolean,
  { head: place, due: duePlace }: SessionPlaces,
  seen: EntryView,
): readonly EntryWrite[] {
  const expected = seen.at(place)?.stamp;
  // By the time of the store when it was seen last, so never too late.
  const expiresAt = 'at' in expiry ? expiry.at : Math.min(Math.floor(seen.now + expiry.ttlMs), NEVER);
  const wanted = isGarbageLeft ? 0 : expiresAt;
  if (wanted >= (head.due ?? NEVER)) return [{ ...place, expected, next: entryOfHead(head, expiry) }];
  const stored = seen.at(duePlace);
  const due = Math.min(wanted, stored?.rank ?? NEVER);
  return [
    { ...place, expected, next: entryOfHead({ ...head, due }, expiry) },
    { ...duePlace, expected: stored?.stamp, next: entryOfDue(due) },
  ];
}

function expiryAfter(
  { ttlMs }: ComponentWrite,
  stored: StoredEntry | undefined,
  head: SessionHead | undefined,
  now: number,
): SessionExpiry {
  if (ttlMs !== undefined) return { ttlMs };
  return head && stored ? { at: stored.since, now } : { ttlMs: NEVER };
}
