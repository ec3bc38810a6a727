import { LogCursor } from '../domain/cursors.js';
import { InvalidInputError, SessionNotFoundError } from '../domain/errors.js';
import type { LoggedEvent } from '../domain/event.js';
import { type SessionKey, checkedSessionKey, sessionKeyOf } from '../domain/ids.js';
import { optionalCount } from '../domain/optional-count.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { LogReference } from '../storage/session-changes.js';
import { type ListEventsRequest, listEventsUpTo } from './list-events.js';
import type { PageShare, ReadGate } from './read-gate.js';

/** The log to watch, and the start. */
export interface WatchSessionRequest extends SessionKey {
  /** The last known event. Default: the current end of the log. Trimmed events are skipped, as in `listEvents`. */
  readonly afterSeq?: number | undefined;
  /** Ends the watch. */
  readonly signal?: AbortSignal | undefined;
  /** Admits the pages that are read. Default: all, at once. */
  readonly gate?: ReadGate | undefined;
}

/** What a slow reader keeps in memory at most, or one event. */
const PAGE = 100;
const PAGE_BYTES = 262_144;
/** Few at first: large events are not to be read again and again. */
const FIRST_PAGE = 4;

/** The events of a page. One that was handed out is removed. */
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

/** The start of a watch: the incarnation, and the last known event. */
interface Start {
  readonly incarnation: string;
  readonly seq: number;
}

/**
 * The events of a log as they come. The log is the truth: it is read page by page, after the last event that was handed
 * out, so nothing is lost or doubled, whatever becomes of signals. Between pages it waits until somebody says that there may be more.
 */
export class SessionWatch implements AsyncIterableIterator<LoggedEvent> {
  readonly #env: SessionEnvironment;
  readonly #request: WatchSessionRequest;
  readonly #places: AsyncGenerator<Place, undefined>;
  #wait: LogChangeWait | undefined;
  #isOver = false;
  #pageSize = FIRST_PAGE;

  constructor(env: SessionEnvironment, request: WatchSessionRequest) {
    this.#env = env;
    const { afterSeq, signal, gate } = request;
    // A copy, since the caller may reuse the request object.
    this.#request = { ...sessionKeyOf(request), afterSeq, signal, gate };
    // Reads the start now, not when the first event is requested.
    const start = env.tasks.track(startOf(env, this.#request));
    // The first `next()` reports a failure.
    start.catch(() => undefined);
    this.#places = this.#read(start);
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
  async *#read(start: Promise<Start>): AsyncGenerator<Place, undefined> {
    if (this.#hasEnded()) return undefined;
    const { incarnation, seq: startSeq } = await start;
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

  /** The next events, waited for where there are none; none where the waiting was ended. */
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

  /** Waits at the gate and reads. An empty page holds no memory. */
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
      // A page that is not full ended at its bytes, or with the log.
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

async function startOf({ storage }: SessionEnvironment, request: WatchSessionRequest): Promise<Start> {
  const key = checkedSessionKey(request);
  const afterSeq = optionalCount(request.afterSeq, 'afterSeq');
  assertSignal(request.signal);
  const read = await storage.read({ key });
  if (!read) throw new SessionNotFoundError(key.sessionId);
  const { incarnation, lastSeq } = read.record;
  // An event beyond the end belongs to another incarnation.
  if (afterSeq !== undefined && afterSeq > lastSeq) {
    throw new InvalidInputError(`must be at most ${lastSeq}, the last event`, 'afterSeq');
  }
  return { incarnation, seq: afterSeq ?? lastSeq };
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

  /** Aborted when there is nothing more to wait for. */
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

  /** Ends the wait now. */
  wake(): void {
    this.#isWoken = true;
    this.#resolve?.();
  }

  /** The same, because the watch ends. */
  end(): void {
    this.#ended.abort();
    this.wake();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}
