import { isAnchor } from '../sessions/domain/event/event-inspection.js';
import { toEventGroup } from '../sessions/domain/event/event-group.js';
import { payloadDigest } from '../sessions/domain/write/event-digest.js';
import type { StoredEvent } from '../sessions/domain/stored/commit.js';
import { StoreUnavailableError } from '../sessions/domain/errors/errors.js';
import { type SessionKey, sessionKeyOf } from '../sessions/domain/values/ids.js';
import type { InitialEvent, SessionRecord } from '../sessions/domain/stored/session-record.js';
import { loggedEvent } from '../sessions/domain/stored/stored-json.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import type { TransferStore } from '../sessions/storage/transfer-store.js';
import type { EventLine } from './transfer-records.js';

/** Limits what is in memory and in one request. */
const MOST_EVENTS = 500;
const MOST_BYTES = 1_048_576;

/** What happened to an event. */
export type EventOutcome = 'added' | 'same' | 'differs';

/**
 * A session in the target, to which the events of an export are added in order. Events that it has already are compared, page by
 * page.
 */
export class TargetSession {
  readonly #key: SessionKey;
  readonly #incarnation: string;
  readonly #firstSeq: number;
  #lastSeq: number;
  #waiting: InitialEvent[] = [];
  #waitingBytes = 0;
  #highWater: number;
  #page = new Map<number, StoredEvent>();

  constructor(
    private readonly storage: SessionStorage,
    private readonly transfer: TransferStore | undefined,
    record: SessionRecord,
  ) {
    this.#key = sessionKeyOf(record);
    this.#incarnation = record.incarnation;
    this.#firstSeq = record.firstSeq;
    this.#lastSeq = record.lastSeq;
    this.#highWater = record.highWater;
  }

  /** The last event in the target, without those that wait. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Adds the event, or compares it. Without `transfer`, nothing is added. @param checkId refuses the id of a new one */
  async take(line: EventLine, checkId: (id: string) => void): Promise<EventOutcome> {
    if (line.seq <= this.#lastSeq) return (await this.#isSame(line)) ? 'same' : 'differs';
    const event = this.#eventOf(line);
    checkId(event.id);
    if (!this.transfer) return 'added';
    this.#waiting.push(event);
    this.#waitingBytes += line.payload.length;
    if (this.#waiting.length < MOST_EVENTS && this.#waitingBytes < MOST_BYTES) return 'added';
    return (await this.flush()) ? 'added' : 'differs';
  }

  /** Deletes the session, unless it has become another one, or somebody appended to it. */
  async remove(): Promise<void> {
    const record = (await this.storage.read({ key: this.#key }))?.record;
    if (record?.incarnation === this.#incarnation && record.lastSeq === this.#lastSeq) {
      await this.storage.delete({ ...this.#key, incarnation: this.#incarnation, lastSeq: this.#lastSeq });
    }
  }

  /** Writes the events that wait. Returns `false` if the target got other events in the meantime. */
  async flush(): Promise<boolean> {
    while (this.#waiting.length > 0) {
      const request = { key: this.#key, incarnation: this.#incarnation, lastSeq: this.#lastSeq, events: this.#waiting };
      if (await this.storage.restoreEvents(request)) {
        this.#lastSeq += this.#waiting.length;
        this.#clear([]);
      } else if (!(await this.#skipStored())) {
        return false;
      }
    }
    return true;
  }

  /** Somebody else added events: perhaps the same ones, by another import or by this request, whose answer was lost. */
  async #skipStored(): Promise<boolean> {
    const before = this.#lastSeq;
    const read = await this.storage.read({ key: this.#key });
    if (read?.record.incarnation !== this.#incarnation) return false;
    this.#lastSeq = read.record.lastSeq;
    if (this.#lastSeq === before)
      throw new StoreUnavailableError('The store did not add the events; try again.', false);
    const stored = this.#waiting.slice(0, this.#lastSeq - before);
    for (const [index, { payload }] of stored.entries()) {
      if (!(await this.#isSame({ seq: before + 1 + index, payload }))) return false;
    }
    this.#clear(this.#waiting.slice(stored.length));
    return true;
  }

  #clear(waiting: InitialEvent[]): void {
    this.#waiting = waiting;
    this.#waitingBytes = waiting.reduce((sum, { payload }) => sum + payload.length, 0);
  }

  /** Events that the target has trimmed cannot be compared. */
  async #isSame({ seq, payload }: Pick<EventLine, 'seq' | 'payload'>): Promise<boolean> {
    if (seq < this.#firstSeq) return true;
    const stored = this.#page.get(seq) ?? (await this.#read(seq));
    if (!stored || stored.payload === null) return false;
    return stored.payload === payload || payloadDigest(stored.payload) === payloadDigest(payload);
  }

  async #read(seq: number): Promise<StoredEvent | undefined> {
    const window = { afterSeq: seq - 1, limit: MOST_EVENTS, keep: 'oldest', maxBytes: MOST_BYTES } as const;
    const read = await this.storage.read({ key: this.#key, window });
    this.#page = new Map((read?.events ?? []).map((event) => [event.seq, event]));
    return this.#page.get(seq);
  }

  #eventOf({ seq, appendedAt, payload }: EventLine): InitialEvent {
    const event = loggedEvent({ payload, seq });
    this.#highWater = Math.max(this.#highWater, event.timestamp, appendedAt);
    return {
      id: event.id,
      timestamp: event.timestamp,
      anchor: isAnchor(event),
      group: toEventGroup(event),
      payload,
      appendedAt,
      highWater: this.#highWater,
    };
  }
}
