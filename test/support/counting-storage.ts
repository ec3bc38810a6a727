import type { ReadRequest, SessionStorage, StoredSession } from '../../src/storage.js';

/** What was read of logs. */
export interface LogReads {
  /** Reads of stretches of a log. */
  readonly ranges: number;
  /** Look-ups of the last event that a view can begin with. */
  readonly anchors: number;
  /** Events that all of them brought. */
  readonly events: number;
}

/** A storage, and what is read of logs through it. */
export class CountingStorage {
  #reads: LogReads = { ranges: 0, anchors: 0, events: 0 };
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

  /** What was read since this was last asked. */
  taken(): LogReads {
    const reads = this.#reads;
    this.#reads = { ranges: 0, anchors: 0, events: 0 };
    return reads;
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
    return stored;
  }
}
