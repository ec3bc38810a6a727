import type { StoredEvent } from '../../domain/commit.js';
import { EventGroups } from '../event-groups.js';
import { payloadDigest } from '../../domain/event-digest.js';
import type { InitialEvent, SessionRecord } from '../../domain/session-record.js';
import type { EventWindow } from '../session-storage.js';
import { firstIndex } from '../binary-search.js';

/** The events of one session, indexed by seq, id, anchor, time and group. Columns take less memory than an object for each event. */
export class EventLog {
  /** In all columns, the event `seq` is at index `seq - 1`. */
  readonly #payloads: (string | null)[] = [];
  readonly #ids: string[] = [];
  readonly #appendTimes: number[] = [];
  readonly #highWaters: number[] = [];
  readonly #seqOfId = new Map<string, number>();
  readonly #anchorSeqs: number[] = [];
  readonly groups = new EventGroups();
  /** Of trimmed events, and those that were given. Others follow from the payload. */
  readonly #digests = new Map<number, string>();

  constructor(events: readonly InitialEvent[] = []) {
    for (const event of events) this.add(event);
  }

  get length(): number {
    return this.#payloads.length;
  }

  add({ id, digest, payload, anchor, group = '', appendedAt, highWater }: InitialEvent): void {
    const seq = this.#payloads.push(payload);
    this.#ids.push(id);
    this.#appendTimes.push(appendedAt);
    this.#highWaters.push(highWater);
    this.#seqOfId.set(id, seq);
    if (anchor) this.#anchorSeqs.push(seq);
    this.groups.add(group, seq);
    if (digest) this.#digests.set(seq, digest);
  }

  entries(): StoredEvent[] {
    return this.#payloads.map((_, index) => this.#entry(index + 1));
  }

  at(seq: number): StoredEvent | undefined {
    return seq >= 1 && seq <= this.length ? this.#entry(seq) : undefined;
  }

  find(id: string): StoredEvent | undefined {
    const seq = this.#seqOfId.get(id);
    return seq === undefined ? undefined : this.#entry(seq);
  }

  window(window: EventWindow, { firstSeq, lastSeq, marks }: SessionRecord, now: number): StoredEvent[] {
    const since = Math.max(window.since ?? 0, window.maxAgeMs === undefined ? 0 : now - window.maxAgeMs);
    const from = Math.max(
      firstSeq,
      (window.afterSeq ?? 0) + 1,
      window.inView ? marks.viewFromSeq + 1 : 1,
      since > 0 ? firstIndex(this.length, (index) => (this.#highWaters[index] as number) >= since) + 1 : 1,
    );
    const limit = window.limit ?? Infinity;
    const newest = window.keep !== 'oldest';
    const found: StoredEvent[] = [];
    const ranges = window.ranges ?? [{ from, to: lastSeq }];
    for (const range of newest ? ranges.toReversed() : ranges) {
      const seqs = this.#seqsIn(Math.max(range.from, from), Math.min(range.to, lastSeq), window.anchorsOnly, newest);
      for (const seq of seqs) {
        if (found.length >= limit) break;
        found.push(this.#entry(seq));
      }
    }
    return newest ? found.toReversed() : found;
  }

  forgetPayloadsBelow(seq: number, from: number): void {
    for (let trimmed = from; trimmed < seq && trimmed <= this.length; trimmed++) {
      const payload = this.#payloads[trimmed - 1] ?? null;
      if (payload !== null && !this.#digests.has(trimmed)) this.#digests.set(trimmed, payloadDigest(payload));
      this.#payloads[trimmed - 1] = null;
    }
  }

  #entry(seq: number): StoredEvent {
    const index = seq - 1;
    return {
      seq,
      id: this.#ids[index] as string,
      digest: this.#digests.get(seq) ?? '',
      appendedAt: this.#appendTimes[index] as number,
      payload: this.#payloads[index] as string | null,
    };
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
