import { type Counters, NO_COUNTS, addCounters, subtractCounters } from '../../domain/stored/counters.js';
import { isAnySummary, isRewind, isSummary } from '../../domain/event/event-inspection.js';
import { LogReplay } from '../../domain/history/log-replay.js';
import type { NumberedEvent } from '../../domain/stored/session-record.js';
import type { InitialEvent } from '../../domain/stored/session-record.js';
import { loggedEvent } from '../../domain/stored/stored-json.js';
import { NO_MARKS } from '../../domain/stored/view-marks.js';
import { EventLog } from '../in-memory/event-log.js';
import { effectiveEvents } from './effective-events.js';
import { type RecordPart, type Snapshot, recordPart } from './snapshot.js';
import type { ReadEvent } from './stamped-event.js';

/** A place of an event that was not read. Nobody can look for it. */
const UNREAD: InitialEvent = {
  id: '',
  timestamp: 0,
  anchor: false,
  payload: '',
  appendedAt: 0,
  highWater: 0,
};

/** The log of a session, or its end, as Vertex AI last showed it. */
export class Replica {
  #bytes = 0;
  #firstHighWater = 0;
  #lastMicros = 0;
  readonly #ids: string[] = [];
  /** Acknowledged, and not seen in an answer yet. */
  readonly #unseen = new Set<string>();

  private constructor(
    /** The first event that was read. */
    readonly from: number,
    readonly isWhole: boolean,
    public part: RecordPart,
    readonly log: EventLog,
  ) {}

  /** From all events, in the order of the API. */
  static ofWhole(all: readonly ReadEvent[], snapshot: Snapshot | undefined): Replica {
    const events = effectiveEvents(all, true);
    const firstSeq = snapshot?.origin?.firstSeq ?? 1;
    const isOurs = snapshot?.lastSeq === firstSeq - 1 + events.length && snapshot.lastId === (events.at(-1)?.id ?? '');
    const part = isOurs ? snapshot : replayed(events, firstSeq, snapshot);
    return new Replica(firstSeq, true, part, EventLog.from(firstSeq)).#filled(events, all);
  }

  /** From the end of the log. Undefined if its numbers cannot be told without the rest. */
  static ofEnd(end: readonly ReadEvent[], snapshot: Snapshot | undefined): Replica | undefined {
    const events = effectiveEvents(end, false);
    if (!snapshot || events.at(-1)?.id !== snapshot.lastId) return undefined;
    const before = snapshot.lastSeq - events.length;
    const isInOrder = events.every(({ seq }, index) => seq === undefined || seq === before + 1 + index);
    const firstSeq = snapshot.origin?.firstSeq ?? 1;
    if (before < firstSeq - 1 || !isInOrder) return undefined;
    const log = EventLog.from(firstSeq);
    for (let seq = firstSeq; seq <= before; seq++) log.add({ ...UNREAD, id: `\u0000${seq}` });
    return new Replica(before + 1, false, snapshot, log).#filled(events, end);
  }

  /** No event that was not read has a later time. */
  get firstHighWater(): number {
    return this.#firstHighWater;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The time of the newest event in the order of the API. */
  get lastMicros(): number {
    return this.#lastMicros;
  }

  get lastId(): string {
    return this.#ids.at(-1) ?? '';
  }

  /** What trimmed events add to the counters. The log must be whole. */
  get trimmedCounts(): Counters {
    return subtractCounters(this.part.counters, countsIn(this.log.entries().slice(this.from - 1), this.from));
  }

  /** Adds events that Vertex AI has acknowledged. */
  add(events: readonly NumberedEvent[], record: RecordPart, micros: number): void {
    for (const event of events) {
      this.#add(event);
      this.#unseen.add(event.id);
    }
    this.part = recordPart(record);
    this.#lastMicros = micros;
  }

  /**
   * Whether the newest events that Vertex AI shows are those of this replica. A list may lag behind acknowledged events.
   *
   * @param newest in the order of the API
   */
  isUpToDate(newest: readonly ReadEvent[], isAll: boolean): boolean {
    const shown = effectiveEvents(newest, isAll);
    const last = shown.at(-1);
    const end = last === undefined ? 0 : this.#ids.lastIndexOf(last.id) + 1;
    if (end === 0 && (last !== undefined || !isAll)) return false;
    if (!this.#ids.slice(end).every((id) => this.#unseen.has(id))) return false;
    const known = this.#ids.slice(Math.max(0, end - shown.length), end);
    // Shown events that were not read may come before those that were.
    const compared = shown.slice(shown.length - known.length);
    if (isAll && this.isWhole && known.length !== shown.length) return false;
    if (!compared.every(({ id }, index) => id === known[index])) return false;
    for (const { id } of shown) this.#unseen.delete(id);
    return true;
  }

  #filled(events: readonly ReadEvent[], all: readonly ReadEvent[]): this {
    this.#firstHighWater = events[0]?.highWater ?? 0;
    let highWater = 0;
    for (const event of events) {
      highWater = Math.max(highWater, event.highWater);
      this.#add({ ...event, highWater });
    }
    // Events that do not count have a place too.
    this.#lastMicros = all.at(-1)?.micros ?? 0;
    return this;
  }

  #add(event: InitialEvent): void {
    this.log.add(event);
    this.#ids.push(event.id);
    this.#bytes += event.payload.length + event.id.length;
  }
}

/** The record, from the events alone: another program has written, or two processes at once. */
function replayed(events: readonly ReadEvent[], firstSeq: number, snapshot: Snapshot | undefined): RecordPart {
  const replay = new LogReplay();
  const part: { -readonly [Name in keyof RecordPart]: RecordPart[Name] } = {
    lastSeq: firstSeq - 1,
    tipSeq: Math.min(firstSeq - 1, snapshot?.tipSeq ?? 0),
    lastUpdateTime: 0,
    highWater: 0,
    counters: NO_COUNTS,
    marks: NO_MARKS,
    marksSeq: 0,
    turnsOnly: snapshot?.turnsOnly ?? false,
    usage: snapshot?.usage ?? [],
  };
  for (const [index, { payload, appendedAt, highWater }] of events.entries()) {
    const event = loggedEvent({ payload, seq: firstSeq + index });
    replay.add(event);
    part.lastSeq = event.seq;
    part.highWater = Math.max(part.highWater, highWater);
    if (isSummary(event) || isRewind(event)) part.marksSeq = event.seq;
    if (isAnySummary(event)) continue;
    part.tipSeq = event.seq;
    part.lastUpdateTime = Math.max(part.lastUpdateTime, appendedAt);
  }
  const counters = addCounters(replay.countsAt(part.lastSeq), trimmedCounts(events, snapshot));
  return { ...part, counters, marks: replay.marksAt(part.lastSeq, counters) };
}

/** What the events before the first one add to the counters. */
function trimmedCounts(events: readonly ReadEvent[], snapshot: Snapshot | undefined): Counters {
  if (!snapshot?.origin || snapshot.origin.firstSeq === 1) return NO_COUNTS;
  // Until the first append, the counters of the snapshot are those of the events that were imported.
  const imported = events.filter(({ seq }) => seq !== undefined);
  return snapshot.origin.trimmed ?? subtractCounters(snapshot.counters, countsIn(imported, snapshot.origin.firstSeq));
}

/** The counters of events alone. */
function countsIn(events: readonly { readonly payload: string | null }[], firstSeq: number): Counters {
  const replay = new LogReplay();
  for (const [index, { payload }] of events.entries()) replay.add(loggedEvent({ payload, seq: firstSeq + index }));
  return replay.countsAt(firstSeq - 1 + events.length);
}
