import { assertId, createUnlessThere, inCommits, readPages, RESERVED, retryOvertaken } from '../../adapter.js';
import {
  type EventInput,
  type LoggedEvent,
  type SessionKey,
  SessionNotFoundError,
  type SessionService,
} from '../../index.js';
import { beginOf, begunAt, OpenMessages } from './stored-message.js';

const LABEL = `${RESERVED.metadata.agents}mcp-session`;
const PAGE = 200;

/** A stored event of a part. */
export interface PlacedEvent {
  readonly part: number;
  readonly event: LoggedEvent;
}

/**
 * The messages of a client, in parts of a fixed length: each is a session. Only the last two are kept, so that the log does not grow.
 * Messages that begin after the length of a part do not count: their writers found it full, and wrote to the next one.
 */
export class MessageLog {
  #part: number | undefined;
  #isCleared = false;

  constructor(
    private readonly sessions: SessionService,
    private readonly key: SessionKey,
    private readonly length: number,
  ) {}

  /** Appends the pieces of a message, and returns the place of the last one. */
  async append(events: readonly EventInput[]): Promise<PlacedEvent> {
    if (this.#isCleared) throw new SessionNotFoundError(this.key.sessionId);
    return retryOvertaken(() => this.#appendToNewest(events), isMissing);
  }

  async #appendToNewest(events: readonly EventInput[]): Promise<PlacedEvent> {
    const part = (this.#part ??= await this.#newest());
    try {
      const last = await this.#appendTo(part, events);
      if (last) return { part, event: last };
      await this.#begin(part + 1);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // Another instance is two parts ahead, and removed this one. Or it expired: this is its beginning again.
      const newest = Math.max(...(await this.#parts()));
      if (newest > part) this.#part = newest;
      else await this.#create(part);
      throw error;
    }
    return this.#appendToNewest(events);
  }

  /** The event, if it is there and counts. */
  async at(part: number, seq: number): Promise<LoggedEvent | undefined> {
    for await (const event of this.#eventsIn(part, seq - 1, 1))
      return event.seq === seq && this.#counts(event) ? event : undefined;
    return undefined;
  }

  /** What follows, oldest first, also in the next parts. Holds a page of the service. */
  async *after(part: number, seq: number): AsyncGenerator<PlacedEvent> {
    for (let number = part, from = seq; ; number++, from = 0) {
      let isThere = false;
      for await (const event of this.#eventsIn(number, from)) {
        isThere = true;
        if (this.#counts(event)) yield { part: number, event };
      }
      if (!isThere && number > part) return;
    }
  }

  /** Like {@link after}, and then what is stored from now on, until the signal aborts. */
  async *following(part: number, seq: number, signal: AbortSignal): AsyncGenerator<PlacedEvent> {
    for (let number = part, from = seq; !signal.aborted; number++, from = 0) {
      const open = new OpenMessages();
      let isFull = false;
      for await (const event of this.sessions.watch({ ...this.#keyOf(number), afterSeq: from, signal })) {
        if (this.#counts(event)) {
          open.add(event);
          yield { part: number, event };
        } else isFull = true;
        if (isFull && open.isEmpty) break;
      }
      // Whoever wrote more than fits creates the next part, now or before.
      if (!signal.aborted) await this.#create(number + 1);
    }
  }

  /** Removes all messages. Nothing is appended any more. */
  async clear(): Promise<void> {
    this.#isCleared = true;
    for (const number of await this.#parts()) await this.sessions.deleteSession(this.#keyOf(number));
  }

  /** Returns the last event; `undefined` if the part is full. */
  async #appendTo(part: number, [first, ...others]: readonly EventInput[]): Promise<LoggedEvent | undefined> {
    const session = this.#reference(part);
    const append = async (events: readonly EventInput[]): Promise<LoggedEvent | undefined> =>
      (await this.sessions.appendEvents({ session, events })).at(-1);
    let last = first && (await append([first]));
    if (!last || !this.#counts(last)) return undefined;
    const { seq } = last;
    for (const pieces of inCommits(others.map((event) => begunAt(seq, event)))) last = await append(pieces);
    return last;
  }

  #counts(event: LoggedEvent): boolean {
    return beginOf(event) <= this.length;
  }

  async #begin(part: number): Promise<void> {
    await this.#create(part);
    this.#part = part;
    if (part >= 2) await this.sessions.deleteSession(this.#keyOf(part - 2));
  }

  async #create(part: number): Promise<void> {
    const metadata = { labels: { [LABEL]: this.key.sessionId } };
    await createUnlessThere(this.sessions, { ...this.#keyOf(part), metadata });
  }

  async #newest(): Promise<number> {
    return Math.max(0, ...(await this.#parts()));
  }

  /** The numbers of the parts that are there. */
  async #parts(): Promise<number[]> {
    const { appName, userId, sessionId } = this.key;
    const { sessions } = await this.sessions.listSessions({
      appName,
      userId,
      filter: { labels: { [LABEL]: sessionId } },
      orderBy: 'createTime',
      includeState: false,
    });
    return sessions.map(({ id }) => Number(id.slice(sessionId.length + 1)));
  }

  async *#eventsIn(part: number, afterSeq: number, limit = PAGE): AsyncGenerator<LoggedEvent> {
    const request = { ...this.#keyOf(part), afterSeq, limit };
    try {
      const pages = readPages((cursor) => this.sessions.listEvents({ ...request, cursor }));
      for await (const { events } of pages) yield* events;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  #keyOf(part: number): SessionKey {
    return { ...this.key, sessionId: `${this.key.sessionId}.${part}` };
  }

  #reference(part: number): { readonly appName: string; readonly userId: string; readonly id: string } {
    const { appName, userId, sessionId: id } = this.#keyOf(part);
    return { appName, userId, id };
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof SessionNotFoundError;
}

/** Refuses an id that leaves no room for the number of a part. */
export function assertLogId(id: string): void {
  assertId(`${id}.999999999999`, 'mcpSessionId');
}
