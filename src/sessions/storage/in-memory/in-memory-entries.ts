import { expiresAt, isExpired } from '../../domain/values/expiry.js';
import { compareBytes } from '../../domain/values/ids.js';
import {
  type EntryCounts,
  type EntryOutcome,
  type EntryPlace,
  type EntryRange,
  type EntryStore,
  type EntryWrite,
  type FoundEntries,
  type NewEntry,
  PARKED,
  type StoredEntry,
} from '../entry-store.js';
import { writtenEntry } from '../written-entry.js';
import { SortedList } from './sorted-list.js';

type Rank = Pick<StoredEntry, 'rank' | 'name'>;

interface KeptEntry extends Rank {
  readonly entry: StoredEntry;
  readonly expiresAt: number;
}

interface Space {
  readonly byName: Map<string, KeptEntry>;
  readonly byRank: SortedList<Rank, KeptEntry>;
}

/** Entries by name, and by rank. */
export class InMemoryEntries implements EntryStore {
  readonly #spaces = new Map<string, Space>();

  /** @param now the time of an operation */
  constructor(private readonly now: () => number) {}

  async find(places: readonly EntryPlace[]): ReturnType<EntryStore['find']> {
    const now = this.now();
    return { now, entries: places.map((place) => this.#live(place, now)) };
  }

  async range({ space, from = -Infinity, upTo = PARKED, after, limit }: EntryRange): Promise<FoundEntries> {
    const now = this.now();
    const last = upTo === 'now' ? now : upTo;
    const begin = { rank: from, name: '' };
    const entries: StoredEntry[] = [];
    const ranked = this.#spaces.get(space)?.byRank.from(after && compareRanks(after, begin) > 0 ? after : begin, 'asc');
    for (const kept of ranked ?? []) {
      if (kept.rank > last || entries.length >= limit) break;
      if (!isExpired(kept.expiresAt, now)) entries.push(kept.entry);
    }
    return { now, entries };
  }

  async write(writes: readonly EntryWrite[]): Promise<EntryOutcome> {
    const now = this.now();
    const entries = writes.map((write) => this.#live(write, now));
    if (writes.some(({ expected }, index) => entries[index]?.stamp !== expected)) {
      return { kind: 'changed', now, entries };
    }
    for (const { space, name, next } of writes) {
      if (next === 'same') continue;
      this.#takeOff({ space, name });
      if (next) this.#put({ space, name }, next, now);
    }
    return { kind: 'written', now };
  }

  async count(space: string): Promise<EntryCounts> {
    const now = this.now();
    const live = this.#keptIn(space).filter((kept) => !isExpired(kept.expiresAt, now));
    const waiting = live.filter(({ rank }) => rank !== PARKED).map(({ entry }) => entry.since);
    const oldestSince = waiting.length > 0 ? waiting.reduce((a, b) => Math.min(a, b)) : undefined;
    return { now, waiting: waiting.length, oldestSince, parked: live.length - waiting.length };
  }

  purge(limit: number, now: number): void {
    const expired = this.#kept().filter((kept) => isExpired(kept.expiresAt, now));
    for (const { entry } of expired.slice(0, limit)) this.#takeOff(entry);
  }

  all(): readonly StoredEntry[] {
    return this.#kept().map(({ entry }) => entry);
  }

  clear(): void {
    this.#spaces.clear();
  }

  #live({ space, name }: EntryPlace, now: number): StoredEntry | undefined {
    const kept = this.#spaces.get(space)?.byName.get(name);
    return kept && !isExpired(kept.expiresAt, now) ? kept.entry : undefined;
  }

  #kept(): KeptEntry[] {
    return [...this.#spaces.keys()].flatMap((space) => this.#keptIn(space));
  }

  #keptIn(space: string): KeptEntry[] {
    return [...(this.#spaces.get(space)?.byName.values() ?? [])];
  }

  #put({ space, name }: EntryPlace, next: NewEntry, now: number): void {
    const entry = writtenEntry({ space, name }, next, now);
    const kept = { name, rank: entry.rank, entry, expiresAt: expiresAt(now, next) };
    const { byName, byRank } = this.#spaces.get(space) ?? { byName: new Map(), byRank: new SortedList(compareRanks) };
    byName.set(name, kept);
    byRank.add(kept);
    this.#spaces.set(space, { byName, byRank });
  }

  #takeOff({ space, name }: EntryPlace): void {
    const { byName, byRank } = this.#spaces.get(space) ?? {};
    const kept = byName?.get(name);
    if (!kept) return;
    byName?.delete(name);
    byRank?.delete(kept);
    if (byName?.size === 0) this.#spaces.delete(space);
  }
}

function compareRanks(a: Rank, b: Rank): number {
  return a.rank - b.rank || compareBytes(a.name, b.name);
}
