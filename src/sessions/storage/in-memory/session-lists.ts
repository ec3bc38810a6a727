import { NEVER, isExpired } from '../../domain/expiry.js';
import { hasEntries, indexEntries } from '../../domain/metadata-entries.js';
import type { SessionRecord } from '../../domain/session-record.js';
import { comparePositions, positionOf } from '../list-order.js';
import type { ListFilter, ListPosition, ListRequest } from '../session-storage.js';
import { OrderedPlaces, type Place } from './ordered-places.js';

/** What a list knows of a session. */
export interface Listable {
  readonly record: SessionRecord;
  readonly metadata: string;
}

/** A page: see ListResult. */
export interface ListedPage<Item> {
  readonly items: readonly Item[];
  readonly total?: number;
  readonly examinedTo?: ListPosition;
}

/** The places of a session in the orders that a write changes. The lists of its user and of its app share them. */
export interface ChangingPlaces<Item> {
  readonly updated: Place<Item>;
  readonly expiring: Place<Item> | undefined;
}

/** The places of a session in all orders. */
export interface Places<Item> extends ChangingPlaces<Item> {
  readonly created: Place<Item>;
}

/**
 * Builds the places of a new session.
 *
 * @example
 * const places = placesOf(entry);
 * for (const lists of [app.lists, user.lists]) lists.add(entry, places);
 */
export function placesOf<Item extends Listable>(item: Item): Places<Item> {
  const { record } = item;
  const created = placeOf(item, record.createTime);
  const updated = record.lastUpdateTime === record.createTime ? created : placeOf(item, record.lastUpdateTime);
  return { created, updated, expiring: expiringPlaceOf(item) };
}

/** Builds the places that a write changes. */
export function changingPlacesOf<Item extends Listable>(item: Item): ChangingPlaces<Item> {
  return { updated: placeOf(item, item.record.lastUpdateTime), expiring: expiringPlaceOf(item) };
}

function expiringPlaceOf<Item extends Listable>(item: Item): Place<Item> | undefined {
  return item.record.expiresAt < NEVER ? placeOf(item, item.record.expiresAt) : undefined;
}

function placeOf<Item extends Listable>(item: Item, time: number): Place<Item> {
  const { userId, sessionId } = item.record;
  return { time, userId, sessionId, item };
}

type PageRequest = Omit<ListRequest, 'appName' | 'userId'>;

/**
 * The sessions of a user or an app in the orders of lists, by expiry, and by entry of metadata. A page looks at the
 * sessions that it returns, or at as many as the filter permits.
 */
export class SessionLists<Item extends Listable> {
  readonly #byUpdate = new OrderedPlaces<Item>();
  readonly #byCreation = new OrderedPlaces<Item>();
  readonly #byExpiry = new OrderedPlaces<Item>();
  /** By creation, which never changes. */
  readonly #byEntry = new Map<string, OrderedPlaces<Item>>();

  add(item: Item, places = placesOf(item)): void {
    this.#byCreation.add(places.created);
    this.addChanging(item, places);
    for (const entry of indexEntries(item.metadata)) this.#addEntry(entry, item);
  }

  remove(item: Item): void {
    this.#byCreation.delete(positionOf(item.record, { orderBy: 'createTime' }));
    this.removeChanging(item.record);
    for (const entry of indexEntries(item.metadata)) this.#removeEntry(entry, item.record);
  }

  /** Adds a session to the orders that a write changes. */
  addChanging(item: Item, { updated, expiring } = changingPlacesOf(item)): void {
    this.#byUpdate.add(updated);
    if (expiring) this.#byExpiry.add(expiring);
  }

  removeChanging(record: SessionRecord): void {
    this.#byUpdate.delete(positionOf(record, { orderBy: 'lastUpdateTime' }));
    if (record.expiresAt < NEVER) this.#byExpiry.delete(positionByExpiry(record));
  }

  /** Call it after a change of the metadata. */
  changeEntries(item: Item, { added, removed }: { added: readonly string[]; removed: readonly string[] }): void {
    for (const entry of removed) this.#removeEntry(entry, item.record);
    for (const entry of added) this.#addEntry(entry, item);
  }

  page(request: PageRequest, now: number): ListedPage<Item> {
    const { filter, order, limit, after, offset = 0, withTotal } = request;
    if (filter) return this.#filtered(request, filter, now);
    const items: Item[] = [];
    let skipped = 0;
    if (limit > 0) {
      for (const { item } of this.#sorted(request).from(after, order)) {
        if (isExpired(item.record.expiresAt, now)) continue;
        if (skipped++ < offset) continue;
        if (items.push(item) >= limit) break;
      }
    }
    return { items, ...(withTotal && { total: this.#byCreation.size - this.#byExpiry.countUpTo(now) }) };
  }

  /** Sessions that have expired, in the order of their expiry. */
  *expired(now: number): Generator<Item> {
    for (const { item, time } of this.#byExpiry.from(undefined, 'asc')) {
      if (!isExpired(time, now)) return;
      yield item;
    }
  }

  /** By the rules of decision 0032: follows the rarest entry by creation, or by update if it has few sessions. */
  #filtered(request: PageRequest, { entries, maxExamined }: ListFilter, now: number): ListedPage<Item> {
    const { limit, after, order, orderBy } = request;
    const [rarest] = entries
      .map((entry) => this.#byEntry.get(entry))
      .toSorted((a, b) => (a?.size ?? 0) - (b?.size ?? 0));
    const isFound = ({ record, metadata }: Item): boolean =>
      !isExpired(record.expiresAt, now) && hasEntries(metadata, entries);
    if (!rarest || limit === 0) return { items: [] };
    if (orderBy === 'lastUpdateTime' && rarest.size <= maxExamined) {
      const found = [...rarest.from(undefined, 'asc')].map(({ item }) => item).filter(isFound);
      return { items: pageOf(found, request) };
    }
    const items: Item[] = [];
    let examined = 0;
    const sorted = orderBy === 'createTime' ? rarest : this.#byUpdate;
    for (const place of sorted.from(after, order)) {
      if (isFound(place.item) && items.push(place.item) >= limit) break;
      if (++examined >= maxExamined) return { items, examinedTo: positionOf(place.item.record, request) };
    }
    return { items };
  }

  #sorted({ orderBy }: Pick<ListRequest, 'orderBy'>): OrderedPlaces<Item> {
    return orderBy === 'createTime' ? this.#byCreation : this.#byUpdate;
  }

  #addEntry(entry: string, item: Item): void {
    const places = this.#byEntry.get(entry) ?? new OrderedPlaces<Item>();
    places.add(placeOf(item, item.record.createTime));
    this.#byEntry.set(entry, places);
  }

  #removeEntry(entry: string, record: SessionRecord): void {
    const places = this.#byEntry.get(entry);
    places?.delete(positionOf(record, { orderBy: 'createTime' }));
    if (places?.size === 0) this.#byEntry.delete(entry);
  }
}

function positionByExpiry({ expiresAt, userId, sessionId }: SessionRecord): ListPosition {
  return { time: expiresAt, userId, sessionId };
}

/** The requested page of a few sessions. */
function pageOf<Item extends Listable>(items: readonly Item[], request: PageRequest): Item[] {
  const { limit, after } = request;
  return items
    .map((item) => ({ item, position: positionOf(item.record, request) }))
    .filter(({ position }) => !after || comparePositions(position, after, request) > 0)
    .toSorted((a, b) => comparePositions(a.position, b.position, request))
    .slice(0, limit)
    .map(({ item }) => item);
}
