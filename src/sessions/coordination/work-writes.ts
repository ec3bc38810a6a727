import {
  type NoteOutcome,
  type WorkEntry,
  type WorkProgress,
  claimedEntry,
  entryAfter,
  createLetterEntry,
  revivedLetter,
} from '../domain/background/consumer-work.js';
import type { ClaimRequest } from '../storage/coordination.js';
import { type EntryPlace, PARKED, type StoredEntry } from '../storage/entry-store.js';
import type { Decision } from './decide.js';
import type { EntryView } from './entry-view.js';
import { entryOfWork, placeOfWork, workIn } from './work-entries.js';

/**
 * Which work a worker tries to claim: the oldest or, if others came first, any of that which was found. So workers that have met do not
 * meet again.
 *
 * @param random 0 to 1
 */
export function workToClaim<Found>(due: readonly Found[], limit: number, attempt: number, random: number): Found[] {
  const first = attempt === 1 ? 0 : Math.floor(random * Math.max(0, due.length - limit + 1));
  return due.slice(first, first + limit);
}

/** Claims what is still due of the work that was found. */
export function claimWork(
  found: readonly EntryPlace[],
  { claim, forMs }: ClaimRequest,
  seen: EntryView,
): Decision<readonly WorkEntry[]> {
  const due = found.flatMap((place) => seen.at(place) ?? []).filter(({ rank }) => rank <= seen.now);
  const claimed = due.map((stored) => ({ stored, work: claimedEntry(workIn(stored), claim) }));
  const writes = claimed.map(({ stored: { space, name, stamp }, work }) => {
    return { space, name, expected: stamp, next: entryOfWork(work, { inMs: forMs }) };
  });
  return { ...(writes.length > 0 && { writes }), answer: () => claimed.map(({ work }) => work) };
}

/** Saves the progress of a worker, and the dead letter, if any. */
export function noteWork(entry: WorkEntry, progress: WorkProgress, seen: EntryView): Decision<NoteOutcome> {
  const place = placeOfWork(entry);
  const stored = seen.at(place);
  const work = stored && workIn(stored);
  if (work?.claim !== entry.claim) return { answer: () => ({ kind: 'lost' }) };
  const next = entryAfter(work, progress);
  const outcome: NoteOutcome = next ? { kind: 'left', upTo: next.upTo } : { kind: 'done' };
  const left = next && entryOfWork(next, { inMs: progress.dueInMs });
  const changed = { ...place, expected: stored?.stamp, next: left };
  const letter = progress.letter && createLetterEntry(work, progress.letter);
  const added = letter && { ...placeOfWork(letter), next: entryOfWork(letter, PARKED) };
  // A dead letter that fails again stays at its place.
  const writes = !added
    ? [changed]
    : added.name === place.name
      ? [{ ...changed, next: added.next }]
      : [changed, { ...added, expected: seen.at(added)?.stamp }];
  return { writes, answer: () => outcome };
}

/** What saving the progress of a worker compares. */
export function placesOfNote(entry: WorkEntry, { letter }: WorkProgress): readonly EntryPlace[] {
  const places = [placeOfWork(entry)];
  if (letter && letter.seq !== entry.letterSeq) places.push(placeOfWork({ ...entry, letterSeq: letter.seq }));
  return places;
}

/** Makes a dead letter due, or removes it. */
export function resolveLetter(letter: StoredEntry | undefined, how: 'retry' | 'drop'): Decision<boolean> {
  if (letter?.rank !== PARKED) return { answer: () => false };
  const { space, name, stamp: expected } = letter;
  const next = how === 'retry' ? entryOfWork(revivedLetter(workIn(letter)), { inMs: 0 }) : undefined;
  return { writes: [{ space, name, expected, next }], ...(next && { news: 'work' }), answer: () => true };
}
