import { isDamagedEvent } from './damaged-event.js';
import type { LoggedEvent } from './event.js';
import { type SessionKey, sessionNameOf } from './ids.js';
import { DamagedDataError } from './stored-json.js';

const MOST_REMEMBERED = 1_000;

/** Reports each damaged event that somebody reads, and each damaged record that somebody lists, once. */
export class DamageReports {
  readonly #reported = new Set<string>();

  constructor(private readonly report: (error: unknown) => void) {}

  /** Looks for damaged events among those that were read. Those that the doctor has replaced are known. */
  look(key: SessionKey, events: readonly LoggedEvent[]): void {
    for (const event of events) {
      if (isDamagedEvent(event) && !event.customMetadata) this.#add(key, `${event.seq}`, `an event (${event.seq}, of `);
    }
  }

  /** A session of a list, whose record is damaged. */
  addRecord(key: SessionKey): void {
    this.#add(key, 'record', 'the record (of ');
  }

  #add(key: SessionKey, part: string, what: string): void {
    const place = `${sessionNameOf(key)}\n${part}`;
    if (this.#reported.has(place)) return;
    if (this.#reported.size >= MOST_REMEMBERED) this.#reported.clear();
    this.#reported.add(place);
    this.report(new DamagedDataError(`${what}session ${JSON.stringify(key.sessionId)})`));
  }
}
