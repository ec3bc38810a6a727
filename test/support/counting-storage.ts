import { eventBytes } from '../../src/sessions/domain/stored/byte-budget.js';
import type { ReadRequest, SessionStorage, StoredSession } from '../../src/storage.js';

/** Counts of reads of logs. */
export interface LogReads {
  /** Reads of ranges of a log. */
  readonly ranges: number;
  /** Lookups of the last anchor. */
  readonly anchors: number;
  /** Events that all of them returned. */
  readonly events: number;
}

/** A storage that counts its reads of logs. */
export class CountingStorage {
  #reads: LogReads = { ranges: 0, anchors: 0, events: 0 };
  #bytes = 0;
  #largest = 0;
  readonly storage: SessionStorage;

  constructor(storage: SessionStorage) {
    this.storage = new Proxy(storage, {
      get: (target, name) => {
        if (name === 'read') return (request: ReadRequest) => this.#read(target, request);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  /** The counts since the last call. */
  taken(): LogReads {
    const reads = this.#reads;
    this.#reads = { ranges: 0, anchors: 0, events: 0 };
    return reads;
  }

  /** Bytes of all events that were returned since the last call. */
  takenBytes(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  /** The most bytes of events that one read returned since the last call. */
  takenLargest(): number {
    const bytes = this.#largest;
    this.#largest = 0;
    return bytes;
  }

  async #read(target: SessionStorage, request: ReadRequest): Promise<StoredSession | undefined> {
    const stored = await target.read(request);
    const { ranges, anchors, events } = this.#reads;
    const { window } = request;
    this.#reads = {
      ranges: ranges + (window && !window.anchorsOnly ? 1 : 0),
      anchors: anchors + (window?.anchorsOnly ? 1 : 0),
      events: events + (stored?.events.length ?? 0) + (stored?.summary ? 1 : 0),
    };
    const bytes = (stored?.events ?? []).reduce((sum, event) => sum + eventBytes(event), 0);
    this.#bytes += bytes;
    this.#largest = Math.max(this.#largest, bytes);
    return stored;
  }
}
