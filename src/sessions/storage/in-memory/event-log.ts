import type { StoredEvent } from '../../domain/commit.js';
import type { InitialEvent, SessionRecord } from '../../domain/session-record.js';
import { firstIndex } from './binary-search.js';
import type { EventWindow } from '../session-storage.js';

/** A stored event with its index fields. */
export interface LogEntry extends StoredEvent {
  readonly anchor: boolean;
  readonly highWater: number;
}

/** The events of one session, indexed by seq, id, anchor and time. */
export class EventLog {
  /** The event `seq` is at index `seq - 1`. */
  readonly #entries: LogEntry[] = [];
  readonly #seqOfId = new Map<string, number>();
  readonly #anchorSeqs: number[] = [];

  constructor(events: readonly InitialEvent[] = []) {
    for (const [index, event] of events.entries()) this.add({ ...event, seq: index + 1 });
  }

  add(entry: LogEntry): void {
    this.#entries.push(entry);
    this.#seqOfId.set(entry.id, entry.seq);
    if (entry.anchor) this.#anchorSeqs.push(entry.seq);
  }

  entries(): readonly LogEntry[] {
    return this.#entries;
  }

  at(seq: number): LogEntry | undefined {
    return this.#entries[seq - 1];
  }

  find(id: string): LogEntry | undefined {
    return this.at(this.#seqOfId.get(id) ?? 0);
  }

  window(window: EventWindow, { firstSeq, lastSeq, marks }: SessionRecord, now: number): LogEntry[] {
    const since = Math.max(window.since ?? 0, window.maxAgeMs === undefined ? 0 : now - window.maxAgeMs);
    const from = Math.max(
      firstSeq,
      (window.afterSeq ?? 0) + 1,
      window.inView ? marks.viewFromSeq + 1 : 1,
      firstIndex(this.#entries.length, (index) => (this.#entries[index] as LogEntry).highWater >= since) + 1,
    );
    const limit = window.limit ?? Infinity;
    const newest = window.keep !== 'oldest';
    const found: LogEntry[] = [];
    const ranges = window.ranges ?? [{ from, to: lastSeq }];
    for (const range of newest ? ranges.toReversed() : ranges) {
      const seqs = this.#seqsIn(Math.max(range.from, from), Math.min(range.to, lastSeq), window.anchorsOnly, newest);
      for (const seq of seqs) {
        if (found.length >= limit) break;
        found.push(this.at(seq) as LogEntry);
      }
    }
    return newest ? found.toReversed() : found;
  }

  forgetPayloadsBelow(seq: number, from: number): void {
    for (let index = from - 1; index < seq - 1; index++) {
      const entry = this.#entries[index];
      if (entry) this.#entries[index] = { ...entry, payload: null };
    }
  }

  *#seqsIn(from: number, to: number, anchorsOnly = false, backwards: boolean): Generator<number> {
    if (!anchorsOnly) {
      const length = Math.max(0, to - from + 1);
      for (let step = 0; step < length; step++) yield backwards ? to - step : from + step;
      return;
    }
    const seqs = this.#anchorSeqs;
    const first = firstIndex(seqs.length, (index) => (seqs[index] as number) >= from);
    const end = firstIndex(seqs.length, (index) => (seqs[index] as number) > to);
    for (let step = 0; step < end - first; step++) yield seqs[backwards ? end - 1 - step : first + step] as number;
  }
}
