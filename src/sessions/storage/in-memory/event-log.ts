import type { StoredEvent } from '../../domain/commit.js';
import { EventGroups } from '../event-groups.js';
import type { InitialEvent, SessionRecord } from '../../domain/session-record.js';
import type { EventWindow } from '../session-storage.js';
import { firstIndex } from '../binary-search.js';
import type { SlabText, TextPlace, TextSlabs } from './text-slabs.js';

/** How many events are moved at once. */
const MOVED_TOGETHER = 64;
const TRIMMED = -1;

/**
 * The events of one session, indexed by seq, id, anchor, time and group. Columns take less memory than an object for each
 * event, and the texts are in slabs.
 */
export class EventLog {
  /** In all columns, the event `seq` is at index `seq - 1`. */
  readonly #places: TextPlace[] = [];
  readonly #ids: string[] = [];
  readonly #appendTimes: number[] = [];
  /** As soon as one is not the time of the append. */
  #highWaters: number[] | undefined;
  readonly #seqOfId = new Map<string, number>();
  readonly #anchorSeqs: number[] = [];
  readonly groups = new EventGroups();
  /** Of trimmed events. */
  #digests: Map<number, string> | undefined;

  constructor(
    private readonly texts: TextSlabs,
    events: readonly InitialEvent[] = [],
  ) {
    for (const event of events) this.add(event);
  }

  get length(): number {
    return this.#places.length;
  }

  /** Begins an empty log as one whose first events were trimmed. */
  beginAt(firstSeq: number): void {
    for (let seq = 1; seq < firstSeq; seq++) {
      this.#places.push(TRIMMED);
      this.#ids.push('');
      this.#appendTimes.push(0);
    }
  }

  add({ id, payload, anchor, group = '', appendedAt, highWater }: InitialEvent): void {
    if (highWater !== appendedAt) this.#highWaters ??= this.#appendTimes.slice();
    this.#highWaters?.push(highWater);
    this.#appendTimes.push(appendedAt);
    this.#ids.push(id);
    const seq = this.#places.push(this.texts.add(payload));
    this.#seqOfId.set(id, seq);
    if (anchor) this.#anchorSeqs.push(seq);
    this.groups.add(group, seq);
  }

  /** Makes events anchors that are not known as such. */
  addAnchors(seqs: readonly number[]): void {
    const all = [...new Set([...this.#anchorSeqs, ...seqs])].sort((a, b) => a - b);
    this.#anchorSeqs.splice(0, Infinity, ...all);
  }

  entries(): StoredEvent[] {
    return this.#places.map((_, index) => this.#entry(index + 1));
  }

  at(seq: number): StoredEvent | undefined {
    return seq >= 1 && seq <= this.length ? this.#entry(seq) : undefined;
  }

  find(id: string): StoredEvent | undefined {
    const seq = this.#seqOfId.get(id);
    return seq === undefined ? undefined : this.#entry(seq);
  }

  /** The last events, up to so many. */
  newest(count: number): StoredEvent[] {
    return Array.from({ length: count }, (_, index) => this.#entry(this.length - count + 1 + index));
  }

  /** The events of a window, and whether its `maxBytes` left out some. */
  window(
    window: EventWindow,
    { firstSeq, lastSeq, marks }: SessionRecord,
    now: number,
  ): { events: StoredEvent[]; isCut: boolean } {
    const { limit = Infinity, maxBytes = Infinity } = window;
    const since = Math.max(window.since ?? 0, window.maxAgeMs === undefined ? 0 : now - window.maxAgeMs);
    const times = this.#highWaters ?? this.#appendTimes;
    const from = Math.max(
      firstSeq,
      (window.afterSeq ?? 0) + 1,
      window.inView ? marks.viewFromSeq + 1 : 1,
      since > 0 ? firstIndex(this.length, (index) => (times[index] as number) >= since) + 1 : 1,
    );
    const newest = window.keep !== 'oldest';
    const found: StoredEvent[] = [];
    let [size, isCut] = [0, false];
    const ranges = window.ranges ?? [{ from, to: lastSeq }];
    search: for (const range of newest ? ranges.toReversed() : ranges) {
      const [low, high] = [Math.max(range.from, from), Math.min(range.to, lastSeq)];
      const { count, seqAt } = window.anchorsOnly ? this.#anchorsIn(low, high) : everySeq(low, high);
      for (let step = 0; step < count; step++) {
        if (found.length >= limit) break search;
        const seq = seqAt(newest ? count - 1 - step : step);
        const entry = this.#entry(seq);
        size += entry.bytes;
        if (found.length > 0 && size > maxBytes) {
          isCut = true;
          break search;
        }
        found.push(entry);
      }
    }
    return { events: newest ? found.toReversed() : found, isCut };
  }

  /** Keeps digests of events instead of their payloads. Returns how many bytes of text are free now. */
  forgetPayloads(from: number, digests: readonly string[]): number {
    const kept = (this.#digests ??= new Map());
    let bytes = 0;
    for (const [index, digest] of digests.entries()) {
      const seq = from + index;
      const place = this.#places[seq - 1] ?? TRIMMED;
      if (place === TRIMMED) continue;
      kept.set(seq, digest);
      this.#places[seq - 1] = TRIMMED;
      bytes += this.texts.release(place);
    }
    return bytes;
  }

  /** Lets go of all texts. The log must not be used afterwards. Returns how many bytes are free now. */
  release(): number {
    let bytes = 0;
    for (const place of this.#places.splice(0)) if (place !== TRIMMED) bytes += this.texts.release(place);
    return bytes;
  }

  /** For a sweep: moves the texts, some at a time. */
  *moveTexts(): Generator<void> {
    for (let index = 0; index < this.length; index++) {
      const place = this.#places[index] as number;
      if (place !== TRIMMED) this.#places[index] = this.texts.moved(place);
      if ((index + 1) % MOVED_TOGETHER === 0) yield;
    }
    yield;
  }

  #entry(seq: number): LogEntry {
    const index = seq - 1;
    const place = this.#places[index] ?? TRIMMED;
    return new LogEntry(
      seq,
      this.#ids[index] as string,
      this.#digests?.get(seq) ?? '',
      this.#appendTimes[index] as number,
      place === TRIMMED ? null : this.texts.at(place),
    );
  }

  #anchorsIn(from: number, to: number): Seqs {
    const seqs = this.#anchorSeqs;
    const first = firstIndex(seqs.length, (index) => (seqs[index] as number) >= from);
    const end = firstIndex(seqs.length, (index) => (seqs[index] as number) > to);
    return { count: Math.max(0, end - first), seqAt: (place) => seqs[first + place] as number };
  }
}

/** An event whose text is decoded when somebody looks at it. */
class LogEntry implements StoredEvent {
  readonly #text: SlabText | null;

  constructor(
    readonly seq: number,
    readonly id: string,
    readonly digest: string,
    readonly appendedAt: number,
    text: SlabText | null,
  ) {
    this.#text = text;
  }

  get payload(): string | null {
    return this.#text && this.#text.toString();
  }

  get bytes(): number {
    return this.#text?.bytes ?? 0;
  }

  /** With the text, for tests and diagnosis. */
  toJSON(): StoredEvent {
    const { seq, id, digest, appendedAt, payload } = this;
    return { seq, id, digest, appendedAt, payload };
  }
}

/** Numbers of events in ascending order. */
interface Seqs {
  readonly count: number;
  readonly seqAt: (place: number) => number;
}

function everySeq(from: number, to: number): Seqs {
  return { count: Math.max(0, to - from + 1), seqAt: (place) => from + place };
}
