import { LogCursor } from '../domain/cursors.js';
import { InvalidInputError, SessionNotFoundError } from '../domain/errors.js';
import type { LoggedEvent } from '../domain/event.js';
import { type SessionKey, checkedSessionKey, sessionKeyOf } from '../domain/ids.js';
import { optionalCount } from '../domain/optional-count.js';
import type { SessionEnvironment } from '../session-environment.js';
import { listEvents } from './list-events.js';
import { Waiting } from './waiting.js';

/** Which log to follow, and from where. */
export interface WatchSessionRequest extends SessionKey {
  /** The last event that is known already; from now on unless given. What was trimmed since is left out, as in `listEvents`. */
  readonly afterSeq?: number | undefined;
  /** Ends the watching. */
  readonly signal?: AbortSignal | undefined;
}

/** What a slow reader keeps in memory at most. */
const PAGE = 100;

/** Where watching begins: in this very session, after this event. */
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
  readonly #events: AsyncGenerator<LoggedEvent, undefined>;
  #waiting: Waiting | undefined;
  #isOver = false;

  constructor(env: SessionEnvironment, request: WatchSessionRequest) {
    this.#env = env;
    const { afterSeq, signal } = request;
    // A copy: its giver may use the same object to ask for something else.
    this.#request = { ...sessionKeyOf(request), afterSeq, signal };
    // "Now" is when the watch is asked for, not when its first event is.
    const start = env.running.track(startOf(env, this.#request));
    // Whoever takes the first event hears of a failure.
    start.catch(() => undefined);
    this.#events = this.#read(start);
  }

  next(): Promise<IteratorResult<LoggedEvent, undefined>> {
    return this.#events.next();
  }

  /** Ends the watching, also while somebody waits for the next event. */
  return(): Promise<IteratorResult<LoggedEvent, undefined>> {
    this.#isOver = true;
    this.#waiting?.end();
    return this.#events.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async *#read(start: Promise<Start>): AsyncGenerator<LoggedEvent, undefined> {
    if (this.#hasEnded()) return undefined;
    const { incarnation, seq: startSeq } = await start;
    let seq = startSeq;
    while (!this.#hasEnded()) {
      for (const event of await this.#nextPage(incarnation, seq)) {
        if (this.#hasEnded()) return undefined;
        seq = event.seq;
        yield event;
      }
    }
    return undefined;
  }

  /** The next events, waited for where there are none; none where the waiting was ended. */
  async #nextPage(incarnation: string, seq: number): Promise<readonly LoggedEvent[]> {
    const key = sessionKeyOf(this.#request);
    const cursor = new LogCursor(incarnation, seq, 'asc').toString();
    // Listens before it reads, so that nothing falls in between.
    const waiting = new Waiting(this.#env, { key, incarnation }, seq, this.#request.signal);
    this.#waiting = waiting;
    try {
      while (!this.#hasEnded()) {
        waiting.expect();
        const { events } = await this.#env.running.track(listEvents(this.#env, { ...key, cursor, limit: PAGE }));
        if (events.length > 0) return events;
        await waiting.done();
      }
      return [];
    } finally {
      this.#waiting = undefined;
      waiting.stop();
    }
  }

  #hasEnded(): boolean {
    return this.#isOver || this.#env.closing.hasBegun || this.#request.signal?.aborted === true;
  }
}

async function startOf({ storage }: SessionEnvironment, request: WatchSessionRequest): Promise<Start> {
  const key = checkedSessionKey(request);
  const afterSeq = optionalCount(request.afterSeq, 'afterSeq');
  assertSignal(request.signal);
  const read = await storage.read({ key });
  if (!read) throw new SessionNotFoundError(key.sessionId);
  const { incarnation, lastSeq } = read.record;
  // Events that the caller knows and the log does not were those of another session.
  if (afterSeq !== undefined && afterSeq > lastSeq) {
    throw new InvalidInputError(`must be at most ${lastSeq}, the last event`, 'afterSeq');
  }
  return { incarnation, seq: afterSeq ?? lastSeq };
}

/** One of another realm, or of a polyfill, is one as well. */
function assertSignal(signal: AbortSignal | null | undefined): void {
  if (signal === undefined || signal === null || typeof signal.addEventListener === 'function') return;
  throw new InvalidInputError('must be an AbortSignal', 'signal');
}
