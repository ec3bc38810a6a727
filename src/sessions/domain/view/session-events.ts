import { isSummary } from '../event/event-inspection.js';
import type { LoggedEvent } from '../event/event.js';
import type { ViewItem } from './view-item.js';

/** An event, perhaps not parsed yet. */
type Item = Pick<ViewItem, 'seq' | 'event'>;

/**
 * The events of a session object. They are parsed when somebody looks at them, since most appends to a busy session are
 * never looked at. From then on the array is up to date at all times, because the caller may keep it.
 */
export class SessionEvents {
  /** What the list begins with, and what was added since, while nobody has seen it. */
  #items: readonly Item[];
  #added: Item[] = [];
  #list: LoggedEvent[] | undefined;

  /** @param list the array, if there is one already */
  constructor(items: readonly Item[], list?: LoggedEvent[]) {
    this.#items = items;
    this.#list = list;
  }

  get list(): LoggedEvent[] {
    if (this.#list) return this.#list;
    const list = this.#items.map(({ event }) => event);
    for (const { event } of this.#added) insert(list, event);
    this.#become(list);
    return list;
  }

  set list(list: LoggedEvent[]) {
    this.#become(list);
  }

  /** The list, if anybody has seen it. */
  get seen(): LoggedEvent[] | undefined {
    return this.#list;
  }

  /** Begins another list. */
  replace(items: readonly Item[]): void {
    this.#items = items;
    this.#added = [];
    this.#list = undefined;
  }

  /** Adds an event at its place in the log. */
  add(item: Item): void {
    if (this.#list) insert(this.#list, item.event);
    else this.#added.push(item);
  }

  #become(list: LoggedEvent[]): void {
    this.#list = list;
    this.#items = [];
    this.#added = [];
  }
}

/** In place, so that the cost of an append does not depend on the length of the conversation. */
function insert(list: LoggedEvent[], event: LoggedEvent): void {
  list.splice(list.findLastIndex((other) => other.seq < event.seq || isSummary(other)) + 1, 0, event);
}
