import { StoreUnavailableError } from '../domain/errors/errors.js';
import { retryUndefined } from '../domain/process/retry-overtaken.js';
import type { EntryPlace, EntryWrite } from '../storage/entry-store.js';
import { type EntryView, placeText } from './entry-view.js';
import type { KnownEntries } from './known-entries.js';

/** What follows from entries. */
export interface Decision<Answer> {
  /** What to write first. Missing: nothing. */
  readonly writes?: readonly EntryWrite[] | undefined;
  /** See `EntryStore.write`. */
  readonly news?: 'work' | undefined;
  /** @param now the store's time of the write or, without one, of the read */
  readonly answer: (now: number) => Answer;
}

/** The answer of a decision that has none. */
export function noAnswer(): void {
  return undefined;
}

/** On which entries to decide. */
export interface DecidedEntries {
  readonly places: readonly EntryPlace[];
  /** What is at the places, as far as it is known. Only a write proves it. Default: it is read. */
  readonly begin?: EntryView | undefined;
}

/** Decides on entries, and writes what was decided. Decides again if one of them has changed. */
export async function decide<Answer>(
  entries: KnownEntries,
  { places, begin }: DecidedEntries,
  rule: (seen: EntryView) => Decision<Answer>,
): Promise<Answer> {
  let known = begin;
  let isProved = false;
  const tryOnce = async (): Promise<{ readonly answer: Answer } | undefined> => {
    if (!known) {
      known = await entries.find(places);
      isProved = true;
    }
    const { writes, news, answer } = rule(known);
    if (!writes) {
      if (isProved) return { answer: answer(known.now) };
      known = undefined;
      return undefined;
    }
    const outcome = await entries.write(writes, news);
    if (outcome.kind === 'written') return { answer: answer(outcome.now) };
    known = known.after(outcome.now, writes, outcome.entries);
    const written = new Set(writes.map(placeText));
    isProved = places.every((place) => written.has(placeText(place)));
    return undefined;
  };
  // The answer of a refused write, or a read, is usually enough for the second one.
  const decided = await retryUndefined(async () => (await tryOnce()) ?? (await tryOnce()));
  if (!decided) throw new StoreUnavailableError('Others changed the same entries again and again.', false);
  return decided.answer;
}
