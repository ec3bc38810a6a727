import type { Failure } from './failures.js';
import { Reading } from './reading.js';
import type { SessionLog } from './session-log.js';
import type { SessionReads } from './session-reads.js';
import { type EventFigures, figuresOfEvent } from './turn-usage.js';

/** Events of one request: as many as the routes give. */
const PAGE = 1_000;
/** So many of the newest events are read before more is asked for. */
const FIRST_EVENTS = 2_000;

/** The figures of the newest events of a log: as it grows, and further back when asked. */
export class FiguresLog {
  #events: readonly EventFigures[] = [];
  /** What is being read follows the log by itself. */
  readonly #reading: Reading;
  /** How far the log is followed. */
  #lastSeq = 0;
  #firstSeq = 1;
  #isClosed = false;

  constructor(
    private readonly reads: Pick<SessionReads, 'listEvents'>,
    private readonly log: Pick<SessionLog, 'key' | 'eventAt'>,
    /** Is told of each change. */
    private readonly onChange: () => void,
  ) {
    this.#reading = new Reading(onChange);
  }

  /** In the order of the log, without gaps. */
  get events(): readonly EventFigures[] {
    return this.#events;
  }

  get isReading(): boolean {
    return this.#reading.isRunning;
  }

  get failure(): Failure | undefined {
    return this.#reading.failure;
  }

  /** Whether the first event that the log keeps was read. */
  get isWhole(): boolean {
    return (this.#events[0]?.seq ?? Infinity) <= this.#firstSeq;
  }

  /** Reads what there is up to this event. */
  async follow(lastSeq: number): Promise<void> {
    // Another session with this id has begun.
    if (lastSeq < this.#lastSeq) this.#events = [];
    this.#lastSeq = lastSeq;
    await this.#reading.run(() => this.#readNewer());
  }

  /** Reads so many events before those that were read. */
  async readOlder(count: number): Promise<void> {
    await this.#reading.run(async () => {
      await this.#readOlder(count);
      await this.#readNewer();
    });
  }

  close(): void {
    this.#isClosed = true;
  }

  async #readNewer(): Promise<void> {
    if (this.#events.length === 0) await this.#readOlder(FIRST_EVENTS);
    for (let end = this.#end(); end < this.#lastSeq && !this.#isClosed; end = this.#end()) {
      const known = this.log.eventAt(end + 1);
      const { key } = this.log;
      const events = known ? [known] : (await this.reads.listEvents({ ...key, afterSeq: end, limit: PAGE })).events;
      if (events.length === 0) return;
      this.#keep([...this.#events, ...events.map(figuresOfEvent)]);
    }
  }

  async #readOlder(count: number): Promise<void> {
    for (let left = count; left > 0 && !this.isWhole && !this.#isClosed;) {
      const beforeSeq = this.#events[0]?.seq ?? this.#lastSeq + 1;
      const limit = Math.min(PAGE, left);
      const page = await this.reads.listEvents({ ...this.log.key, beforeSeq, limit, order: 'desc' });
      this.#firstSeq = page.firstSeq;
      if (page.events.length === 0) return;
      left -= page.events.length;
      this.#keep([...page.events.toReversed().map(figuresOfEvent), ...this.#events]);
    }
  }

  #keep(events: readonly EventFigures[]): void {
    this.#events = events;
    this.onChange();
  }

  #end(): number {
    return this.#events.at(-1)?.seq ?? this.#lastSeq;
  }
}
