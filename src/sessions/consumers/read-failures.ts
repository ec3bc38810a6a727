import { BoundedMap } from '../domain/process/bounded-map.js';
import type { WorkEntry } from '../domain/background/consumer-work.js';

/** Of so many sessions. What is forgotten begins anew. */
const MOST = 10_000;

/**
 * How often in a row this process failed to read the events of a session, or to save how far it came. No event has failed then, so it is not
 * stored as a try.
 */
export class ReadFailures {
  readonly #counts = new BoundedMap<number>(MOST);

  /** One more. Returns how many there are. */
  add(entry: WorkEntry): number {
    const count = (this.#counts.get(nameOf(entry)) ?? 0) + 1;
    this.#counts.set(nameOf(entry), count);
    return count;
  }

  /** The events were read. */
  forget(entry: WorkEntry): void {
    this.#counts.delete(nameOf(entry));
  }
}

function nameOf({ incarnation, letterSeq }: WorkEntry): string {
  return `${incarnation}:${letterSeq}`;
}
