/** What identifies an entry: a kind of entries, such as `lease` or the work of one consumer, and a name in it. */
export interface EntryPlace {
  /** 1 to 400 UTF-8 bytes without U+0000, compared byte for byte. It may begin with its group: see {@link groupOfSpace}. */
  readonly space: string;
  /** 1 to 1,024 UTF-8 bytes without U+0000, compared byte for byte. */
  readonly name: string;
}

/** A text beside the sessions that processes share: a lease, a task that is due, a piece of work, a part of a component. */
export interface StoredEntry extends EntryPlace {
  /** Another number after each write of the entry. See `newStamp`. */
  readonly stamp: number;
  /** The order of the entries of a space: usually a time. {@link PARKED} entries wait for nobody. */
  readonly rank: number;
  /** When what it stands for began, by the store's clock. */
  readonly since: number;
  /** Opaque. */
  readonly text: string;
}

/**
 * The group of a space, whose name begins with `@`, the number of the group, and a colon. All other spaces are in one group without a
 * number. A store may keep each group on another server, so one write has entries of one group.
 *
 * @example groupOfSpace('@3:components'); // 3
 */
export function groupOfSpace(space: string): number | undefined {
  const [, group] = /^@(\d+):/.exec(space) ?? [];
  return group === undefined ? undefined : Number(group);
}

/** The rank of entries that are kept, and never due. */
export const PARKED = 8.64e15;

/** A time by the store's clock, as a whole number of milliseconds: at this time, or so long after the write. */
export type EntryTime = number | { readonly inMs: number };

/** What a write leaves. */
export interface NewEntry {
  readonly stamp: number;
  readonly rank: EntryTime;
  readonly since: EntryTime;
  readonly text: string;
  /** The store may remove the entry so long after the write. `NEVER`: it stays. */
  readonly ttlMs: number;
}

/** One entry to write. */
export interface EntryWrite extends EntryPlace {
  /** The stamp of the entry that is replaced. Undefined: there is none. */
  readonly expected: number | undefined;
  /** Undefined: the entry is removed. `'same'`: it is only compared. */
  readonly next: NewEntry | 'same' | undefined;
}

/** What became of a write. */
export type EntryOutcome =
  | { readonly kind: 'written'; readonly now: number }
  /** At least one entry is not as expected: nothing is written. The entries as they are, in the order of the writes. */
  | { readonly kind: 'changed'; readonly now: number; readonly entries: readonly (StoredEntry | undefined)[] };

/** Entries, and the store's time of the read. */
export interface FoundEntries {
  readonly now: number;
  readonly entries: readonly StoredEntry[];
}

/** Which entries of a space to read. */
export interface EntryRange {
  readonly space: string;
  /** Only entries of this rank or a higher one. Default: any. */
  readonly from?: number | undefined;
  /** Only entries of this rank or a lower one; `'now'`: those that are due. Default: any. */
  readonly upTo?: number | 'now' | undefined;
  /** Only entries after this one in the order. */
  readonly after?: Pick<StoredEntry, 'rank' | 'name'> | undefined;
  /** 1 to 1,000. */
  readonly limit: number;
}

/** How many entries a space has. */
export interface EntryCounts {
  readonly now: number;
  /** Entries that are not {@link PARKED}. */
  readonly waiting: number;
  /** The earliest `since` of them. */
  readonly oldestSince: number | undefined;
  readonly parked: number;
}

/**
 * Keeps entries: texts with an order and an expiry, compared and written. What they mean is decided above, so that a store knows neither
 * leases nor work. Each method is atomic. Expired entries are never returned.
 *
 * @example
 * const stamp = newStamp();
 * const next = { stamp, rank: { inMs: 30_000 }, since: { inMs: 0 }, text: 'worker 1', ttlMs: 60_000 };
 * const outcome = await storage.entries.write([{ space: 'lease', name: 'report', expected: undefined, next }]);
 */
export interface EntryStore {
  /** Over how many groups it is worth to spread many entries. Default: 1. */
  readonly groups?: number | undefined;
  /** The entries at these places, in the order of the places. At most 1,000. Entries of one group are of one moment. */
  find(
    places: readonly EntryPlace[],
  ): Promise<{ readonly now: number; readonly entries: readonly (StoredEntry | undefined)[] }>;
  /** A page of a space, by rank, then by name (`compareBytes`). */
  range(request: EntryRange): Promise<FoundEntries>;
  /**
   * Writes all, or nothing. Each place once, all in one group; at most 1,000.
   *
   * @param news what a store with a feed tells consumers in all processes once all is written; see `ChangeFeed.listenForConsumers`.
   *   Default: nothing.
   */
  write(writes: readonly EntryWrite[], news?: 'work'): Promise<EntryOutcome>;
  /** Counts a space. */
  count(space: string): Promise<EntryCounts>;
}
