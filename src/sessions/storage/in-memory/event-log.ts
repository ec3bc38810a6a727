import type { StoredEvent } from '../../domain/stored/commit.js';
import type { GroupSearch } from '../../domain/event/event-group.js';
import { KeptEvent } from '../../domain/stored/kept-event.js';
import type { InitialEvent, SessionRecord } from '../../domain/stored/session-record.js';
import { isTrimmed } from '../../domain/stored/stored-json.js';
import { firstIndex } from '../binary-search.js';
import { EventGroups } from '../event-groups.js';
import type { EventText } from '../rebuild.js';
import type { EventWindow } from '../session-storage.js';

/** Replaced and never changed, since readers may hold it. */
interface LogEvent extends StoredEvent {
  readonly bytes: number;
  readonly anchor: boolean;
  readonly group?: string | undefined;
  readonly highWater: number;
}

/** The events of one session. */
export class EventLog {
  /** The event `seq` is at index `seq - 1`. */
  readonly #events: LogEvent[] = [];
  /** Made with the first event: many sessions have none. */
  #seqOfId: Map<string, number> | undefined;
  /** Of the events that were there when somebody last searched. */
  #groups: EventGroups | undefined;
  #grouped = 0;

  /** A log whose first events were trimmed, unless it begins with event 1. */
  static from(firstSeq: number, events: readonly InitialEvent[] = []): EventLog {
    const log = new EventLog();
    log.#beginAt(firstSeq);
    for (const event of events) log.add(event);
    return log;
  }

  get length(): number {
    return this.#events.length;
  }

  #beginAt(firstSeq: number): void {
    for (let seq = 1; seq < firstSeq; seq++) {
      this.#put({ seq, id: '', digest: '', appendedAt: 0, payload: null, bytes: 0, anchor: false, highWater: 0 });
    }
  }

  add(event: InitialEvent): void {
    const seq = this.length + 1;
    (this.#seqOfId ??= new Map()).set(event.id, seq);
    if (event instanceof KeptEvent) {
      this.#events.push(event);
      return;
    }
    const { id, payload, anchor, group, appendedAt, highWater } = event;
    const bytes = Buffer.byteLength(payload);
    this.#put({ seq, id, digest: '', appendedAt, payload, bytes, anchor, group, highWater });
  }

  /** Makes events anchors that are not known as such. */
  addAnchors(seqs: readonly number[]): void {
    for (const event of seqs.map((seq) => this.#events[seq - 1])) {
      if (event) this.#replace(event, { anchor: true, payload: event.payload, bytes: event.bytes });
    }
  }

  /** They are no anchors. */
  replaceTexts(texts: readonly EventText[]): void {
    for (const { seq, payload } of texts) {
      const event = this.#events[seq - 1];
      if (event) this.#replace(event, { payload, bytes: Buffer.byteLength(payload), anchor: false });
    }
  }

  entries(): readonly StoredEvent[] {
    return this.#events;
  }

  at(seq: number): StoredEvent | undefined {
    return this.#events[seq - 1];
  }

  find(id: string): StoredEvent | undefined {
    return this.at(this.#seqOfId?.get(id) ?? 0);
  }

  /** The `seq` of an event of a group, or 0. */
  findInGroup(search: GroupSearch): number {
    this.#groups ??= new EventGroups();
    while (this.#grouped < this.length) {
      const event = this.#events[this.#grouped++] as LogEvent;
      this.#groups.add(event.group ?? '', this.#grouped);
    }
    return this.#groups.find(search);
  }

  /** The events of a window, and whether its `maxBytes` left out some. */
  window(
    { keep = 'newest', limit = Infinity, maxBytes = Infinity, anchorsOnly, ...window }: EventWindow,
    { firstSeq, lastSeq, marks }: SessionRecord,
    now: number,
  ): { events: StoredEvent[]; isCut: boolean } {
    const since = Math.max(window.since ?? 0, window.maxAgeMs === undefined ? 0 : now - window.maxAgeMs);
    const from = Math.max(
      firstSeq,
      (window.afterSeq ?? 0) + 1,
      window.inView ? marks.viewFromSeq + 1 : 1,
      since > 0 ? firstIndex(this.length, (index) => (this.#events[index] as LogEvent).highWater >= since) + 1 : 1,
    );
    const { ranges = [{ from, to: lastSeq }] } = window;
    const events: StoredEvent[] = [];
    const isNewest = keep === 'newest';
    let size = 0;
    let isCut = false;
    search: for (const range of isNewest ? ranges.toReversed() : ranges) {
      const [low, high] = [Math.max(range.from, from), Math.min(range.to, lastSeq)];
      for (let step = 0; step <= high - low; step++) {
        const event = this.#events[(isNewest ? high - step : low + step) - 1] as LogEvent;
        if (anchorsOnly && !event.anchor) continue;
        if (events.length >= limit) break search;
        size += event.bytes;
        isCut = events.length > 0 && size > maxBytes;
        if (isCut) break search;
        events.push(event);
      }
    }
    return { events: isNewest ? events.toReversed() : events, isCut };
  }

  /** How many bytes these events have. */
  bytesOf(from: number, to: number): number {
    let bytes = 0;
    for (let seq = from; seq <= Math.min(to, this.length); seq++) bytes += (this.#events[seq - 1] as LogEvent).bytes;
    return bytes;
  }

  /** Keeps digests of events instead of their payloads. */
  forgetPayloads(from: number, digests: readonly string[]): void {
    for (const [index, digest] of digests.entries()) {
      const event = this.#events[from + index - 1];
      if (event && !isTrimmed(event)) this.#replace(event, { digest, payload: null, bytes: 0 });
    }
  }

  #put(event: LogEvent): void {
    this.#events[event.seq - 1] = Object.freeze(event);
  }

  #replace(event: LogEvent, change: Partial<LogEvent> & Pick<LogEvent, 'payload' | 'bytes'>): void {
    const { seq, id, digest, appendedAt, anchor, group, highWater } = event;
    this.#put({ seq, id, digest, appendedAt, anchor, group, highWater, ...change });
  }
}
