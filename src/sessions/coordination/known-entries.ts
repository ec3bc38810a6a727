import { BoundedMap } from '../domain/process/bounded-map.js';
import {
  type EntryCounts,
  type EntryOutcome,
  type EntryPlace,
  type EntryRange,
  type EntryStore,
  type EntryWrite,
  type FoundEntries,
  type StoredEntry,
  groupOfSpace,
} from '../storage/entry-store.js';
import { writtenEntry } from '../storage/written-entry.js';
import { EntryView, placeText } from './entry-view.js';

/** Of all remembered texts together, in UTF-16 units. */
const MAX_LENGTH = 4_000_000;
/** What an entry takes beside its text. */
const LENGTH_OF_ONE = 512;
/** Longer ones are not remembered. */
const LONGEST_TEXT = 8_192;

/**
 * The entries of a store, and what this process saw of them last. That may be out of date. But a write compares, so one that relies on
 * it needs no read before.
 */
export class KnownEntries {
  readonly #known = new BoundedMap<StoredEntry>(MAX_LENGTH, ({ text }) => LENGTH_OF_ONE + text.length);
  #now = 0;

  constructor(private readonly store: EntryStore) {}

  /** What was seen last at these places; undefined if one of them is unknown. */
  known(places: readonly EntryPlace[]): EntryView | undefined {
    return places.every((place) => this.#known.has(placeText(place))) ? this.guess(places) : undefined;
  }

  /** What was seen last at these places; nothing where one is unknown. */
  guess(places: readonly EntryPlace[]): EntryView {
    const entries = places.map((place) => this.#known.get(placeText(place)));
    return EntryView.of(this.#now, places, entries);
  }

  async find(places: readonly EntryPlace[]): Promise<EntryView> {
    const { now, entries } = await this.store.find(places);
    this.#see(now, places, entries);
    return EntryView.of(now, places, entries);
  }

  async range(request: EntryRange): Promise<FoundEntries> {
    const found = await this.store.range(request);
    this.#see(found.now, found.entries, found.entries);
    return found;
  }

  async write(writes: readonly EntryWrite[], news?: 'work'): Promise<EntryOutcome> {
    assertOneGroup(writes);
    const outcome = await this.store.write(writes, news);
    const { now } = outcome;
    if (outcome.kind === 'changed') {
      this.#see(now, writes, outcome.entries);
    } else {
      const changed = writes.filter(({ next }) => next !== 'same');
      const left = changed.map(({ next, ...place }) => {
        return next && next !== 'same' ? writtenEntry(place, next, now) : undefined;
      });
      this.#see(now, changed, left);
    }
    return outcome;
  }

  count(space: string): Promise<EntryCounts> {
    return this.store.count(space);
  }

  #see(now: number, places: readonly EntryPlace[], entries: readonly (StoredEntry | undefined)[]): void {
    this.#now = now;
    for (const [index, place] of places.entries()) {
      const text = placeText(place);
      const entry = entries[index];
      if (entry && entry.text.length <= LONGEST_TEXT) this.#known.set(text, entry);
      else this.#known.delete(text);
    }
  }
}

/** A store in one place would not notice. */
function assertOneGroup(writes: readonly EntryWrite[]): void {
  if (new Set(writes.map(({ space }) => groupOfSpace(space))).size > 1)
    throw new Error('A write has one group of entries');
}
