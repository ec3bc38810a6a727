import { isExpired } from '../../domain/values/expiry.js';
import { hasEntries, indexChanges, indexEntries } from '../../domain/metadata/metadata-entries.js';
import type { SessionRecord } from '../../domain/stored/session-record.js';
import { comparePositions } from '../list-order.js';
import type { ListFilter, ListPosition, ListRequest } from '../session-storage.js';
import { SortedList } from './sorted-list.js';

/** What a list knows of a session. */
export interface Listed {
  readonly record: SessionRecord;
  readonly metadata: string;
}

/** A session at its position in a list. */
interface Place<Item> extends ListPosition {
  readonly item: Item;
}

/** A page: see `ListResult`. */
export interface ListedPage<Item> {
  readonly items: readonly Item[];
  readonly total?: number;
  readonly examinedTo?: ListPosition;
}

type PageRequest = Omit<ListRequest, 'appName' | 'userId'>;
type Time = 'createTime' | 'lastUpdateTime' | 'expiresAt';
type Places<Item> = SortedList<ListPosition, Place<Item>>;

const TIMES = ['createTime', 'lastUpdateTime', 'expiresAt'] as const;

function places<Item>(): Places<Item> {
  return new SortedList((a, b) => comparePositions(a, b, { order: 'asc' }));
}

function toListPosition({ record }: Listed, time: Time): ListPosition {
  return { time: record[time], userId: record.userId, sessionId: record.sessionId };
}

/** The sessions of a user or an app, in each order and by entry of metadata. A page looks at few others than its own sessions. */
export class SessionLists<Item extends Listed> {
  readonly #orders: Readonly<Record<Time, Places<Item>>> = {
    createTime: places(),
    lastUpdateTime: places(),
    expiresAt: places(),
  };
  readonly #byEntry = new Map<string, Set<Item>>();

  get size(): number {
    return this.#orders.createTime.size;
  }

  /**
   * Adds, moves or removes a session.
   *
   * @param before what the lists know of it, if it is in them
   * @param after what they will know, unless it leaves them
   */
  move(item: Item, before: Listed | undefined, after: Listed | undefined): void {
    for (const time of TIMES) {
      if (before && before.record[time] === after?.record[time]) continue;
      if (before) this.#orders[time].delete(toListPosition(before, time));
      if (after) this.#orders[time].add({ ...toListPosition(after, time), item });
    }
    if (before?.metadata === after?.metadata) return;
    const { added, removed } = indexChanges(toListedIndexEntries(before), toListedIndexEntries(after));
    for (const entry of removed) this.#byEntry.get(entry)?.delete(item);
    for (const entry of removed) if (this.#byEntry.get(entry)?.size === 0) this.#byEntry.delete(entry);
    for (const entry of added) this.#byEntry.set(entry, (this.#byEntry.get(entry) ?? new Set()).add(item));
  }

  page(request: PageRequest, now: number): ListedPage<Item> {
    const { filter, order, orderBy, limit, after, offset = 0, withTotal } = request;
    if (filter) return this.#filtered(request, filter, now);
    const items: Item[] = [];
    let skipped = 0;
    if (limit > 0) {
      for (const { item } of this.#orders[orderBy].from(after, order)) {
        if (isExpired(item.record.expiresAt, now) || skipped++ < offset) continue;
        if (items.push(item) >= limit) break;
      }
    }
    return { items, ...(withTotal && { total: this.size - [...this.expired(now)].length }) };
  }

  all(): Item[] {
    return [...this.#orders.createTime.from(undefined, 'asc')].map(({ item }) => item);
  }

  /** Sessions that have expired, in the order of their expiry. */
  *expired(now: number): Generator<Item> {
    for (const { item, time } of this.#orders.expiresAt.from(undefined, 'asc')) {
      if (!isExpired(time, now)) return;
      yield item;
    }
  }

  /** Sorts the sessions with the rarest entry if they are few. Otherwise examines sessions in the order of the list. */
  #filtered(request: PageRequest, { entries, maxExamined }: ListFilter, now: number): ListedPage<Item> {
    const { limit, after, order, orderBy } = request;
    const [rarest] = entries
      .map((entry) => this.#byEntry.get(entry) ?? new Set<Item>())
      .toSorted((a, b) => a.size - b.size);
    const isFew = rarest !== undefined && rarest.size <= maxExamined;
    const sorted = isFew ? places<Item>() : this.#orders[orderBy];
    if (isFew) for (const item of rarest) sorted.add({ ...toListPosition(item, orderBy), item });
    const items: Item[] = [];
    let examined = 0;
    for (const { item } of limit > 0 ? sorted.from(after, order) : []) {
      const isFound = !isExpired(item.record.expiresAt, now) && hasEntries(item.metadata, entries);
      if (isFound && items.push(item) >= limit) break;
      if (++examined >= maxExamined) return { items, examinedTo: toListPosition(item, orderBy) };
    }
    return { items };
  }
}

function toListedIndexEntries(listed: Listed | undefined): string[] {
  return listed ? indexEntries(listed.metadata) : [];
}
