import { toEventGroup } from '../event/event-group.js';
import { isAnchor } from '../event/event-inspection.js';
import type { Event, LoggedEvent } from '../event/event.js';
import { setField } from '../values/json-value.js';
import type { InitialEvent } from './session-record.js';

/**
 * An event as an object that nobody changes, for a store in this process. It is what a commit has, what the log keeps, and what a
 * read returns. Its text is made when somebody asks, and readers get copies of the object.
 *
 * @example for (const event of numberedEvents(commit, record, now)) log.push(event instanceof KeptEvent ? event : { ...event });
 */
export class KeptEvent implements InitialEvent {
  readonly #event: Event;
  #seq = 0;
  #appendedAt = 0;
  #highWater = 0;
  #bytes: number | undefined;

  /** @param event shared with nobody */
  private constructor(event: Event) {
    this.#event = event;
  }

  /** From an event that passed the checks; undefined if its text may have more bytes than this. */
  static of(event: Event, maxBytes: number): KeptEvent | undefined {
    const size = { atMost: 0 };
    const copy = copyAndMeasure(event, size) as Event;
    return size.atMost <= maxBytes ? new KeptEvent(copy) : undefined;
  }

  /** Gives the event of an accepted commit its place in the log. */
  place(seq: number, appendedAt: number, highWater: number): this {
    this.#seq = seq;
    this.#appendedAt = appendedAt;
    this.#highWater = highWater;
    return this;
  }

  get id(): string {
    return this.#event.id;
  }

  get timestamp(): number {
    return this.#event.timestamp;
  }

  get anchor(): boolean {
    return isAnchor(this.#event);
  }

  get group(): string {
    return toEventGroup(this.#event);
  }

  get seq(): number {
    return this.#seq;
  }

  get appendedAt(): number {
    return this.#appendedAt;
  }

  get highWater(): number {
    return this.#highWater;
  }

  get digest(): string {
    return '';
  }

  get payload(): string {
    return JSON.stringify(this.#event);
  }

  get bytes(): number {
    return (this.#bytes ??= Buffer.byteLength(this.payload));
  }

  /** What the text would be parsed to, with its place. */
  toLogged(): LoggedEvent {
    const seq = this.#seq;
    return Object.assign(copyAndMeasure(this.#event, { atMost: 0 }) as Event, { seq });
  }

  /** For tests and diagnosis. */
  toJSON(): object {
    const { seq, id, appendedAt, payload } = this;
    return { seq, id, appendedAt, payload };
  }
}

/** The most bytes of a UTF-16 unit in JSON: of a control character. */
const MOST_OF_A_UNIT = 6;
/** The most bytes of a number, with a comma. */
const MOST_OF_A_NUMBER = 26;

/** Copies JSON, and adds up how many bytes its text may have. */
function copyAndMeasure(value: unknown, size: { atMost: number }): unknown {
  if (typeof value === 'string') {
    size.atMost += MOST_OF_A_UNIT * value.length + 3;
    return value;
  }
  if (typeof value !== 'object' || value === null) {
    size.atMost += MOST_OF_A_NUMBER;
    return value;
  }
  size.atMost += 3;
  if (Array.isArray(value)) return value.map((item) => copyAndMeasure(item, size));
  const copy = {};
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    size.atMost += MOST_OF_A_UNIT * key.length + 3;
    setField(copy, key, copyAndMeasure((value as Record<string, unknown>)[key], size));
  }
  return copy;
}
