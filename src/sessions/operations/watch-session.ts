import { InvalidInputError, SessionNotFoundError } from '../domain/errors.js';
import type { LoggedEvent } from '../domain/event.js';
import { type SessionKey, checkedSessionKey, sessionKeyOf } from '../domain/ids.js';
import { optionalCount } from '../domain/input-checks.js';
import { LogCursor } from '../domain/paging.js';
import type { SessionRecord } from '../domain/session-record.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { LogReference } from '../storage/session-changes.js';
import { type ListEventsRequest, listEventsUpTo } from './list-events.js';

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
export interface WatchStart {
  readonly record: SessionRecord;
  readonly seq: number;
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
  #isOver = false;
  #pageSize = FIRST_PAGE;

  constructor(env: SessionEnvironment, request: WatchSessionRequest) {
    this.#env = env;
    const { afterSeq, signal, gate } = request;
    // A copy, since the caller may reuse the request object.
    this.#request = { ...sessionKeyOf(request), afterSeq, signal, gate };
    // Reads the start now, not when the first event is requested.
    this.started = env.tasks.track(startOf(env, this.#request));
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
    const { record, seq: startSeq } = await start;
    const { incarnation } = record;
    let seq = startSeq;
    while (!this.#hasEnded()) {
      const { events, share } = await this.#nextPage(incarnation, seq);
      try {
        for (let index = 0; index < events.length; index++) {
          if (this.#hasEnded()) return undefined;
          seq = seqAt(events, index) ?? seq;
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
    // Subscribes before it reads, so that no event is missed.
    const wait = new LogChangeWait(this.#env, { key, incarnation }, seq, this.#request.signal);
    this.#wait = wait;
    try {
      while (!this.#hasEnded()) {
        wait.reset();
        const page = await this.#readPage({ ...key, cursor, limit: this.#pageSize }, wait.ended);
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
  async #readPage(request: ListEventsRequest, ended: AbortSignal): Promise<Page> {
    const { gate } = this.#request;
    const share = await gate?.enter(Math.max(PAGE_BYTES, this.#env.limits.maxEventBytes), ended);
    if (gate && !share) return NO_PAGE;
    try {
      const { events, bytes } = await this.#env.tasks.track(listEventsUpTo(this.#env, request, PAGE_BYTES));
      if (events.length === 0) {
        share?.release();
        return NO_PAGE;
      }
      share?.resize(bytes);
      // A page that is not full ended at its byte limit, or at the end of the log.
      this.#pageSize = events.length < this.#pageSize ? Math.max(FIRST_PAGE, events.length) : growing(this.#pageSize);
      return { events, share };
    } catch (error) {
      share?.release();
      throw error;
    }
  }

  #hasEnded(): boolean {
    return this.#isOver || this.#env.shutdown.isRequested || this.#request.signal?.aborted === true;
  }
}

function growing(size: number): number {
  return Math.min(PAGE, size * 4);
}

async function startOf({ storage }: SessionEnvironment, request: WatchSessionRequest): Promise<WatchStart> {
  const key = checkedSessionKey(request);
  const afterSeq = optionalCount(request.afterSeq, 'afterSeq');
  assertSignal(request.signal);
  const read = await storage.read({ key });
  if (!read) throw new SessionNotFoundError(key.sessionId);
  const { record } = read;
  const { lastSeq } = record;
  // An event beyond the end belongs to another incarnation.
  if (afterSeq !== undefined && afterSeq > lastSeq) {
    throw new InvalidInputError(`must be at most ${lastSeq}, the last event`, 'afterSeq');
  }
  return { record, seq: afterSeq ?? lastSeq };
}

/** Accepts signals of other realms and of polyfills. */
function assertSignal(signal: AbortSignal | null | undefined): void {
  if (signal === undefined || signal === null || typeof signal.addEventListener === 'function') return;
  throw new InvalidInputError('must be an AbortSignal', 'signal');
}

/** Waits until a log changes, the caller aborts or the service shuts down. Call `stop` to remove its listeners. */
class LogChangeWait {
  readonly #stops: (() => void)[];
  readonly #ended = new AbortController();
  #isWoken = false;
  #resolve: (() => void) | undefined;

  /** @param seq the last known event */
  constructor(
    { signals, logWatcher, shutdown }: SessionEnvironment,
    log: LogReference,
    seq: number,
    signal: AbortSignal | undefined,
  ) {
    const wake = (): void => this.wake();
    const end = (): void => this.end();
    signal?.addEventListener('abort', end);
    this.#stops = [
      signals.subscribe(log.key, wake),
      logWatcher.add(log, { seq, wake }),
      shutdown.onRequest(end),
      () => signal?.removeEventListener('abort', end),
    ];
  }

  /** Aborted when the watch ends. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Ignores signals that arrived before this call. */
  reset(): void {
    this.#isWoken = false;
  }

  /** Waits for a signal; one that arrived since {@link reset} counts. */
  async wait(): Promise<void> {
    if (this.#isWoken) return;
    await new Promise<void>((resolve) => (this.#resolve = resolve));
    this.#resolve = undefined;
  }

  /** Ends the current wait. */
  wake(): void {
    this.#isWoken = true;
    this.#resolve?.();
  }

  /** Ends the current wait and the watch. */
  end(): void {
    this.#ended.abort();
    this.wake();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}
