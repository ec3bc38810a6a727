import type { EntryPlace, StoredEntry } from '../storage/entry-store.js';

/** Entries as they were at a time of the store. */
export class EntryView {
  private constructor(
    /** The store's time. */
    readonly now: number,
    private readonly entries: ReadonlyMap<string, StoredEntry | undefined>,
  ) {}

  /** @param entries what is at the places, in their order */
  static of(now: number, places: readonly EntryPlace[], entries: readonly (StoredEntry | undefined)[]): EntryView {
    return new EntryView(now, mapEntriesByPlace(places, entries));
  }

  at(place: EntryPlace): StoredEntry | undefined {
    return this.entries.get(placeText(place));
  }

  /** Whether it is known what is at the place, or that nothing is. */
  has(place: EntryPlace): boolean {
    return this.entries.has(placeText(place));
  }

  /** The view after some of the places were read again. */
  after(now: number, places: readonly EntryPlace[], entries: readonly (StoredEntry | undefined)[]): EntryView {
    return new EntryView(now, new Map([...this.entries, ...mapEntriesByPlace(places, entries)]));
  }
}

/** A unique text for each place: neither spaces nor names hold U+0000. */
export function placeText({ space, name }: EntryPlace): string {
  return `${space}\u0000${name}`;
}

function mapEntriesByPlace(
  places: readonly EntryPlace[],
  entries: readonly (StoredEntry | undefined)[],
): Map<string, StoredEntry | undefined> {
  return new Map(places.map((place, index) => [placeText(place), entries[index]]));
}
