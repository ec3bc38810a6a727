import { isDamagedEvent } from './damaged-event.js';
import type { SessionsError } from '../errors/errors.js';
import type { LoggedEvent } from '../event/event.js';
import { type SessionKey, sessionNameOf } from '../values/ids.js';
import { DamagedDataError } from './stored-json.js';

const MOST_REMEMBERED = 1_000;

/** Reports each damaged event that somebody reads, and what is wrong with sessions that somebody lists, once. */
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

  /** Sessions of a list that cannot be decrypted. Mostly, the error is that of all. */
  addUnreadable(error: SessionsError): void {
    this.#once(error.message, error);
  }

  #add(key: SessionKey, part: string, what: string): void {
    const error = new DamagedDataError(`${what}session ${JSON.stringify(key.sessionId)})`);
    this.#once(`${sessionNameOf(key)}\n${part}`, error);
  }

  #once(place: string, error: SessionsError): void {
    if (this.#reported.has(place)) return;
    if (this.#reported.size >= MOST_REMEMBERED) this.#reported.clear();
    this.#reported.add(place);
    this.report(error);
  }
}
