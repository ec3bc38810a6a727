import type { LoggedEvent } from '../../sessions/domain/event.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import type { SessionService } from '../../sessions/session.service.js';
import { type CheckpointRecord, type ThreadHead, type WritesRecord, recordOf } from './thread-records.js';

/** A checkpoint in the log. */
export interface FoundCheckpoint {
  readonly seq: number;
  readonly record: CheckpointRecord;
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
    await this.#load({ beforeSeq: seq + 1, order: 'desc' });
    return this.#events.get(seq);
  }

  /** All events after this one, oldest first. */
  async *after(seq: number): AsyncGenerator<LoggedEvent> {
    let last = seq;
    for (;;) {
      const known = this.#events.get(last + 1);
      if (known) {
        last = known.seq;
        yield known;
        continue;
      }
      const { events, lastSeq } = await this.#load({ afterSeq: last, order: 'asc' });
      const [first] = events;
      if (!first || last >= lastSeq) return;
      last = first.seq - 1;
    }
  }

  /** All events, newest first. */
  async *newestFirst(): AsyncGenerator<LoggedEvent> {
    const { lastSeq } = await this.#load({ order: 'desc' });
    for (let seq = lastSeq; seq > 0; seq--) {
      const event = await this.at(seq);
      if (!event) return;
      yield event;
    }
  }

  /** The newest checkpoint of a namespace. */
  async head(ns: string, { id, after }: ThreadHead): Promise<FoundCheckpoint | undefined> {
    for await (const event of this.after(after)) {
      const found = this.checkpointIn(event, ns, id);
      if (found) return found;
    }
    return undefined;
  }

  /** Any checkpoint of a namespace. */
  async find(ns: string, id: string): Promise<FoundCheckpoint | undefined> {
    for await (const event of this.newestFirst()) {
      const found = this.checkpointIn(event, ns, id);
      if (found) return found;
    }
    return undefined;
  }

  /** The writes to a checkpoint, oldest first. */
  async writesTo({ seq, record: { ns, id } }: FoundCheckpoint): Promise<WritesRecord[]> {
    const writes: WritesRecord[] = [];
    for await (const event of this.after(seq)) {
      const record = this.recordOf(event);
      if (record?.kind === 'writes' && record.ns === ns && record.checkpoint === id) writes.push(record);
    }
    return writes;
  }

  async #load(part: {
    readonly beforeSeq?: number;
    readonly afterSeq?: number;
    readonly order: 'asc' | 'desc';
  }): Promise<{
    readonly events: readonly LoggedEvent[];
    readonly lastSeq: number;
  }> {
    const page = await this.sessions.listEvents({ ...this.key, ...part, limit: this.#page });
    this.#page = Math.min(2 * this.#page, LONGEST_PAGE);
    for (const event of page.events) this.#events.set(event.seq, event);
    return page;
  }

  /** The checkpoint of an event, if it is this one. */
  checkpointIn(event: LoggedEvent, ns: string, id: string): FoundCheckpoint | undefined {
    const record = this.recordOf(event);
    if (record?.kind !== 'checkpoint' || record.ns !== ns || record.id !== id) return undefined;
    return { seq: event.seq, record };
  }

  /** The checkpoint or the writes of an event. */
  recordOf(event: LoggedEvent): CheckpointRecord | WritesRecord | undefined {
    return recordOf(event, this.key.sessionId);
  }
}
