import type { StoredEvent } from '../stored/commit.js';
import { isAnchor } from '../event/event-inspection.js';
import type { LoggedEvent } from '../event/event.js';
import { readableEvent } from '../stored/damaged-event.js';
import { loggedEvent } from '../stored/stored-json.js';

/** An event of a view, with the time from which its age is computed. */
export interface ViewItem {
  readonly seq: number;
  readonly event: LoggedEvent;
  /**
   * The earlier of the event's timestamp and the time of its append. What is stored does not tell whether a caller gave the timestamp,
   * for something that was said long ago, or a process by its own clock.
   */
  readonly time: number;
}

export function viewItem(stored: StoredEvent): ViewItem {
  return viewItemOf(readableEvent(stored), stored.appendedAt);
}

export function viewItemOf(event: LoggedEvent, appendedAt: number): ViewItem {
  return { seq: event.seq, event, time: Math.min(event.timestamp, appendedAt) };
}

/** For text that this process wrote: it is parsed when somebody looks at the event. */
export function unparsedViewItem(stored: UnparsedEvent): ViewItem {
  return new UnparsedItem(stored);
}

/** A stored event that is parsed later. */
export type UnparsedEvent = Pick<StoredEvent, 'seq' | 'payload' | 'appendedAt'>;

class UnparsedItem implements ViewItem {
  #stored: UnparsedEvent;
  #event: LoggedEvent | undefined;

  constructor(stored: UnparsedEvent) {
    this.#stored = stored;
  }

  get seq(): number {
    return this.#stored.seq;
  }

  get event(): LoggedEvent {
    if (this.#event) return this.#event;
    this.#event = loggedEvent(this.#stored);
    // The text is not needed any more.
    const { seq, appendedAt } = this.#stored;
    this.#stored = { seq, appendedAt, payload: null };
    return this.#event;
  }

  get time(): number {
    return Math.min(this.event.timestamp, this.#stored.appendedAt);
  }
}

export function isAnchorItem({ event }: ViewItem): boolean {
  return isAnchor(event);
}
