import { eventsBytes } from '../domain/stored/byte-budget.js';
import { InvalidInputError, SessionNotFoundError } from '../domain/errors/errors.js';
import type { LoggedEvent } from '../domain/event/event.js';
import { type SessionKey, checkedSessionKey, sessionKeyOf } from '../domain/values/ids.js';
import { optionalCount, optionalFlag } from '../domain/values/input-checks.js';
import { LogCursor } from '../domain/values/paging.js';
import { type StoredPartial, type StreamPosition, checkedPosition } from '../domain/stored/partial-event.js';
import { streamedEvents } from '../domain/stored/partial-text.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import { loggedEvent } from '../domain/stored/stored-json.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { StoredSession } from '../storage/session-storage.js';
import { MOST_TAIL_EVENTS } from '../tail-reads.js';
import { type ListEventsRequest, listEventsUpTo } from './list-events.js';
import { LogChangeWait } from './log-change-wait.js';

/** Memory that a page of a watch holds until its events are handed out. */
export interface PageShare {
  /** Corrects what was reserved, once the page is read. */
  resize(bytes: number): void;
  /** Returns the memory. */
  release(): void;
}

/** Admits the pages of a watch, to bound the memory of many watches together. */
export interface ReadGate {
  /** Waits until a page of up to `bytes` may be read. Returns `undefined` if `signal` is aborted first. */
  enter(bytes: number, signal: AbortSignal): Promise<PageShare | undefined>;
}

/** The log to watch, and the start. */
export interface WatchSessionRequest extends SessionKey {
  /** The last known event. Default: the current end of the log. Trimmed events are skipped, as in `listEvents`. */
  readonly afterSeq?: number | undefined;
  /** Also delivers what running agents say, before it is stored: events with `partial: true`. Default `false`. */
  readonly partials?: boolean | undefined;
  /** The `position` of the last event of a watch with `partials`, to go on after it. Takes precedence over `afterSeq`. */
  readonly afterPosition?: string | undefined;
  /** Ends the watch. */
  readonly signal?: AbortSignal | undefined;
  /** Adds to each event what it changes in the state: `statePatch`. Default `false`. */
  readonly stateDeltas?: boolean | undefined;
  /** Admits the pages that are read. Default: all of them immediately. */
  readonly gate?: ReadGate | undefined;
}

/** The maximum that a slow reader keeps in memory, unless a single event is larger. */
const PAGE = 100;
const PAGE_BYTES = 262_144;
/** The first page is small, so that large events beyond its byte limit are not read repeatedly. */
const FIRST_PAGE = 4;

/** The events of a page. Delivered events are removed. */
type PageEvents = (LoggedEvent | undefined)[];

/** The place of an event in its page. */
interface Place {
  readonly events: PageEvents;
  readonly index: number;
}

interface Page {
  readonly events: PageEvents;
  readonly share?: PageShare | undefined;
}

const NO_PAGE: Page = { events: [] };
const NO_EVENTS = { events: [], bytes: 0 };

/** Where a page begins. */
interface PageStart {
  readonly incarnation: string;
  /** The last known event. */
  readonly seq: number;
}

/** What a log has after a position. */
interface NewEvents {
  readonly events: LoggedEvent[];
  readonly bytes: number;
  readonly lastSeq: number;
  readonly partials?: readonly StoredPartial[] | undefined;
}

interface ReadEvents {
  readonly events: LoggedEvent[];
  /** Whether the page tells how large events are. */
  readonly isLogRead: boolean;
  readonly bytes: number;
}

const OVER = { done: true, value: undefined } as const;

function seqAt(events: PageEvents, index: number): number | undefined {
  return events[index]?.seq;
}

function takenFrom({ events, index }: Place): LoggedEvent | undefined {
  const event = events[index];
  events[index] = undefined;
  return event;
}

/** The start of a watch: the session as it was found, and the last known event. */
export interface WatchStart extends StreamPosition {
  readonly record: SessionRecord;
}

/**
 * Delivers the events of a log as they are appended. It reads the log page by page, after the last delivered event, so
 * no event is lost or repeated, even if signals are. Between pages it waits for a signal that there may be new events.
 */
export class SessionWatch implements AsyncIterableIterator<LoggedEvent> {
  readonly #env: SessionEnvironment;
  readonly #request: WatchSessionRequest;
  readonly #places: AsyncGenerator<Place, undefined>;
  /** Rejects if the watch cannot begin. */
  readonly started: Promise<WatchStart>;
  #wait: LogChangeWait | undefined;
  /** The number of the last partial event that was read. */
  #partial = 0;
  #isOver = false;
  #pageSize = FIRST_PAGE;
  /** Whether it has read, so that only what is new is left. */
  #isFollowing = false;

  constructor(env: SessionEnvironment, request: WatchSessionRequest) {
    this.#env = env;
    const { afterSeq, afterPosition, signal, gate } = request;
    // A copy, since the caller may reuse the request object.
    const partials = optionalFlag(request.partials, 'partials');
    this.#request = { ...sessionKeyOf(request), afterSeq, afterPosition, partials, signal, gate };
    // Reads the start now, not when the first event is requested.
    this.started = env.tasks.track(readWatchStart(env, this.#request));
    // The first `next()` reports a failure.
    this.started.catch(() => undefined);
    this.#places = this.#read(this.started);
  }

  async next(): Promise<IteratorResult<LoggedEvent, undefined>> {
    const { value: place } = await this.#places.next();
    const event = place && takenFrom(place);
    return event ? { done: false, value: event } : OVER;
  }

  /** Ends the watch, even during a pending `next()`. */
  async return(): Promise<IteratorResult<LoggedEvent, undefined>> {
    this.#isOver = true;
    this.#wait?.end();
    await this.#places.return(undefined);
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Never holds an event in a variable: it would stay in memory while the next page is waited for. */
  async *#read(start: Promise<WatchStart>): AsyncGenerator<Place, undefined> {
    if (this.#hasEnded()) return undefined;
    const { record, seq: startSeq, partial } = await start;
    const { incarnation } = record;
    let seq = startSeq;
    this.#partial = partial;
    while (!this.#hasEnded()) {
      const { events, share } = await this.#nextPage(incarnation, seq);
      try {
        for (let index = 0; index < events.length; index++) {
          if (this.#hasEnded()) return undefined;
          seq = Math.max(seq, seqAt(events, index) ?? seq);
          yield { events, index };
        }
      } finally {
        share?.release();
      }
    }
    return undefined;
  }

  /** Waits for the next events. Returns an empty page if the wait was ended. */
  async #nextPage(incarnation: string, seq: number): Promise<Page> {
    const key = sessionKeyOf(this.#request);
    const cursor = new LogCursor(incarnation, seq, 'asc').toString();
    const { partials, signal } = this.#request;
    // Subscribes before it reads, so that no event is missed.
    const waiter = { seq, partial: partials ? this.#partial : undefined };
    const wait = new LogChangeWait(this.#env, { key, incarnation }, waiter, signal);
    this.#wait = wait;
    try {
      while (!this.#hasEnded()) {
        wait.reset();
        const request = { ...key, cursor, limit: this.#pageSize };
        const page = await this.#readPage(request, { incarnation, seq }, wait.ended);
        if (page.events.length > 0) return page;
        if (!this.#hasEnded()) await wait.wait();
      }
      return NO_PAGE;
    } finally {
      this.#wait = undefined;
      wait.stop();
    }
  }

  /** Waits for memory and reads a page. An empty page holds no memory. */
  async #readPage(request: ListEventsRequest, from: PageStart, ended: AbortSignal): Promise<Page> {
    const { gate } = this.#request;
    const share = await gate?.enter(Math.max(PAGE_BYTES, this.#env.limits.maxEventBytes), ended);
    if (gate && !share) return NO_PAGE;
    try {
      const { events, isLogRead, bytes } = await this.#env.tasks.track(this.#readEvents(request, from));
      if (events.length === 0) {
        share?.release();
        return NO_PAGE;
      }
      share?.resize(bytes);
      // A page that is not full ended at its byte limit, or at the end of the log.
      if (isLogRead) {
        this.#pageSize = events.length < this.#pageSize ? Math.max(FIRST_PAGE, events.length) : growing(this.#pageSize);
      }
      return { events, share };
    } catch (error) {
      share?.release();
      throw error;
    }
  }

  async #readEvents(request: ListEventsRequest, { incarnation, seq }: PageStart): Promise<ReadEvents> {
    const from = { seq, partial: this.#partial };
    const read = (await this.#readTail(incarnation, from)) ?? (await this.#readAlone(request, incarnation, from));
    this.#isFollowing = true;
    const { events, bytes, lastSeq } = read;
    const isLogRead = lastSeq > seq;
    if (!read.partials) return { events, bytes, isLogRead };
    // Those after events of the next page wait for it.
    const upTo = events.at(-1)?.seq ?? lastSeq;
    const partials = read.partials.filter(({ afterSeq }) => afterSeq <= upTo);
    this.#partial = partials.at(-1)?.number ?? from.partial;
    const length = partials.reduce((sum, { content }) => sum + content.length, 0);
    return { events: streamedEvents(events, partials, from), isLogRead, bytes: bytes + length };
  }

  /** What is new, together with other watches. Undefined if the log is to be read by itself: it may have much, or large events. */
  async #readTail(incarnation: string, { seq, partial }: StreamPosition): Promise<NewEvents | undefined> {
    if (!this.#isFollowing || this.#pageSize > MOST_TAIL_EVENTS) return undefined;
    const key = sessionKeyOf(this.#request);
    const afterPartial = this.#request.partials ? partial : undefined;
    const request = { key, incarnation, afterSeq: seq, afterPartial, limit: this.#pageSize };
    const tail = await this.#env.tailReads.read(request);
    if (tail === 'gone') throw new SessionNotFoundError(key.sessionId);
    if (!tail || (tail.lastSeq > seq && tail.events.length === 0)) return undefined;
    if (afterPartial !== undefined && !tail.partials) return undefined;
    const bytes = eventsBytes(tail.events);
    return { ...tail, events: tail.events.map(loggedEvent), bytes };
  }

  /** While only partial events are new, it reads them alone. */
  async #readAlone(
    request: ListEventsRequest,
    incarnation: string,
    { seq, partial }: StreamPosition,
  ): Promise<NewEvents> {
    if (!this.#request.partials) return listEventsUpTo(this.#env, request, PAGE_BYTES);
    const key = sessionKeyOf(this.#request);
    const [said] = await this.#env.storage.tails([
      { key, incarnation, afterSeq: seq, limit: 0, afterPartial: partial },
    ]);
    if (!said) throw new SessionNotFoundError(key.sessionId);
    const { events, bytes } = said.lastSeq > seq ? await listEventsUpTo(this.#env, request, PAGE_BYTES) : NO_EVENTS;
    return { ...said, events, bytes };
  }

  #hasEnded(): boolean {
    return this.#isOver || this.#env.shutdown.isRequested || this.#request.signal?.aborted === true;
  }
}

function growing(size: number): number {
  return Math.min(PAGE, size * 4);
}

async function readWatchStart(env: SessionEnvironment, request: WatchSessionRequest): Promise<WatchStart> {
  const key = checkedSessionKey(request);
  const { afterPosition } = request;
  const position =
    afterPosition === undefined || afterPosition === null ? undefined : checkedPosition(afterPosition, 'afterPosition');
  const afterSeq = position?.seq ?? optionalCount(request.afterSeq, 'afterSeq');
  assertSignal(request.signal);
  const read = async (): Promise<StoredSession> => {
    const found = await env.storage.read({ key });
    if (!found) throw new SessionNotFoundError(key.sessionId);
    return found;
  };
  const isFromNow = afterSeq === undefined;
  const { record, seq } = isFromNow
    ? await env.startingWatches.endOfLog(key, read)
    : { ...(await read()), seq: afterSeq };
  const { lastSeq } = record;
  // An event beyond the end belongs to another incarnation.
  if (!isFromNow && seq > lastSeq) {
    const path = position ? 'afterPosition' : 'afterSeq';
    throw new InvalidInputError(`must be at most ${lastSeq}, the last event`, path);
  }
  return { record, seq, partial: position?.partial ?? 0 };
}

/** Accepts signals of other realms and of polyfills. */
function assertSignal(signal: AbortSignal | null | undefined): void {
  if (signal === undefined || signal === null || typeof signal.addEventListener === 'function') return;
  throw new InvalidInputError('must be an AbortSignal', 'signal');
}
