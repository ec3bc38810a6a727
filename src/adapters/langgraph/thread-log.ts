import { readPages } from '../../adapter.js';
import type { ListEventsRequest, LoggedEvent, SessionKey, SessionService } from '../../index.js';
import { type CheckpointRecord, type WritesRecord, readThreadRecord } from './thread-records.js';

/** A checkpoint in the log. */
export interface FoundCheckpoint {
  readonly seq: number;
  readonly record: CheckpointRecord;
}

/** A checkpoint with the writes to it, oldest first. */
export interface CheckpointWithWrites extends FoundCheckpoint {
  readonly writes: readonly WritesRecord[];
}

const FIRST_PAGE = 32;
const LONGEST_PAGE = 1_000;

/** Reads the log of a thread in pages, each event at most once. Belongs to one call. */
export class ThreadLog {
  readonly #events = new Map<number, LoggedEvent>();
  #page = FIRST_PAGE;

  constructor(
    private readonly sessions: SessionService,
    private readonly key: SessionKey,
  ) {}

  /** The event, or `undefined` if it was trimmed. Reads older ones with it, since they are mostly wanted next. */
  async at(seq: number): Promise<LoggedEvent | undefined> {
    const known = this.#events.get(seq);
    if (known || seq < 1) return known;
    await this.#load({ beforeSeq: seq + 1 });
    return this.#events.get(seq);
  }

  /** All events, newest first. */
  async *newestFirst(): AsyncGenerator<LoggedEvent> {
    const { lastSeq } = await this.#load({});
    for (let seq = lastSeq; seq > 0; seq--) {
      const event = await this.at(seq);
      if (!event) return;
      yield event;
    }
  }

  /**
   * A checkpoint, however far back it is, and the writes to it. Those may lie before it: LangGraph writes what tasks did without
   * waiting until the checkpoint that they ran at is stored.
   *
   * @param end of the log, if the checkpoint is probably near to it
   */
  async checkpoint(ns: string, id: string, end?: number): Promise<CheckpointWithWrites | undefined> {
    return (end === undefined ? undefined : await this.#checkpointNear(end, ns, id)) ?? this.#checkpointOf(ns, id);
  }

  /** The writes to a checkpoint that lie before it, oldest first. */
  async writesBefore({ seq, record: { ns, id, after = seq } }: FoundCheckpoint): Promise<WritesRecord[]> {
    const writes: WritesRecord[] = [];
    for (let place = seq - 1; place > after; place--) {
      const event = await this.at(place);
      const record = event && this.recordOf(event);
      if (record?.kind === 'writes' && record.ns === ns && record.checkpoint === id) writes.unshift(record);
    }
    return writes;
  }

  /** The checkpoint or the writes of an event. */
  recordOf(event: LoggedEvent): CheckpointRecord | WritesRecord | undefined {
    return readThreadRecord(event, this.key.sessionId);
  }

  /** Looks in the last page, whose events are mostly wanted next. `undefined` if it may lack something. */
  async #checkpointNear(end: number, ns: string, id: string): Promise<CheckpointWithWrites | undefined> {
    await this.at(end);
    let found: FoundCheckpoint | undefined;
    const writes: WritesRecord[] = [];
    for (let seq = end; seq > (found?.record.after ?? 0); seq--) {
      const event = this.#events.get(seq);
      if (!event) return undefined;
      const record = this.recordOf(event);
      if (record?.ns !== ns) continue;
      if (record.kind === 'writes' && record.checkpoint === id) writes.unshift(record);
      else if (record.kind === 'checkpoint' && record.id === id) found ??= { seq, record };
    }
    return found && { ...found, writes };
  }

  /** A checkpoint and its writes are an invocation, which is found without reading the log. */
  async #checkpointOf(ns: string, id: string): Promise<CheckpointWithWrites | undefined> {
    let found: FoundCheckpoint | undefined;
    const writes: WritesRecord[] = [];
    const pages = readPages((cursor) => this.sessions.listEvents({ ...this.key, invocationId: id, cursor }));
    for await (const { events } of pages) {
      for (const event of events) {
        const record = this.recordOf(event);
        if (record?.ns !== ns) continue;
        if (record.kind === 'writes') writes.push(record);
        else found = { seq: event.seq, record };
      }
    }
    return found && { ...found, writes };
  }

  async #load(part: Pick<ListEventsRequest, 'beforeSeq'>): Promise<{ readonly lastSeq: number }> {
    const page = await this.sessions.listEvents({ ...this.key, ...part, order: 'desc', limit: this.#page });
    this.#page = Math.min(2 * this.#page, LONGEST_PAGE);
    for (const event of page.events) this.#events.set(event.seq, event);
    return page;
  }
}
