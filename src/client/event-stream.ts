import type { EventPage } from '../sessions/operations/list-events.js';
import type { WatchedEvent } from '../sessions/operations/state-history.js';
import { optionalTimer } from '../sessions/domain/values/input-checks.js';
import { RequestHeadersError } from './headers-error.js';
import { ProblemError } from './problem-error.js';
import { type RequestOptions, type Requests, pause } from './requests.js';
import { NEWEST } from './seen-events.js';

export interface EventStreamOptions {
  /** Only events after this one. By default, only new events. */
  readonly afterSeq?: number | undefined;
  /** Adds to each event what it changes in the state: `statePatch`. */
  readonly stateDeltas?: boolean | undefined;
  /** Also delivers what running agents say, before it is stored: events with `partial: true`. */
  readonly partials?: boolean | undefined;
  /** The `position` of the last event of a watch with `partials`, to go on after it. Takes precedence over `afterSeq`. */
  readonly afterPosition?: string | undefined;
  /** Ends the watch. */
  readonly signal?: AbortSignal | undefined;
  /** How long a connection may be idle before the client reconnects. Default: 45,000 ms. */
  readonly idleTimeoutMs?: number | undefined;
}

/** Three keep-alive intervals of the server. */
export const IDLE_TIMEOUT_MS = 45_000;

/** One block of a stream of server-sent events. */
interface Block {
  readonly event: string;
  readonly data: string;
}

/** Follows a stream, and reconnects after the last event. */
export class EventStream implements AsyncIterableIterator<WatchedEvent> {
  readonly #ended = new AbortController();
  readonly #end: AbortSignal;
  readonly #idleTimeoutMs: number;
  /** Of each connection. */
  readonly #query: { readonly stateDeltas: boolean | undefined; readonly partials: boolean | undefined };
  readonly #events: AsyncGenerator<WatchedEvent, undefined>;

  constructor(
    private readonly requests: Requests,
    private readonly eventsPath: () => string,
    { afterSeq, afterPosition, stateDeltas, partials, signal, idleTimeoutMs = IDLE_TIMEOUT_MS }: EventStreamOptions,
  ) {
    this.#query = { stateDeltas, partials };
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#end = signal === undefined ? this.#ended.signal : AbortSignal.any([signal, this.#ended.signal]);
    const start = afterPosition === undefined ? this.#startAfter(afterSeq) : Promise.resolve(afterPosition);
    // The first `next()` reports the failure.
    start.catch(() => undefined);
    this.#events = this.#follow(start);
  }

  next(): Promise<IteratorResult<WatchedEvent, undefined>> {
    return this.#events.next();
  }

  /** Ends the stream and its connection, also while `next()` is pending. */
  return(): Promise<IteratorResult<WatchedEvent, undefined>> {
    this.#ended.abort();
    return this.#events.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * Reads the last event before the first connection, so that no event is lost if that connection breaks.
   */
  async #startAfter(afterSeq: number | undefined): Promise<number> {
    if (this.#end.aborted) return 0;
    const path = this.eventsPath();
    if (afterSeq !== undefined) return afterSeq;
    const options = { query: { limit: 1, order: 'desc', minSeq: NEWEST }, isRepeatable: true, signal: this.#end };
    try {
      const page = await this.requests.json<EventPage | undefined>('GET', path, options);
      if (page?.lastSeq === undefined) throw notFromServer(200, 'a page of events');
      return page.lastSeq;
    } catch (error) {
      // The watch has ended.
      if (this.#end.aborted) return 0;
      throw error;
    }
  }

  async *#follow(start: Promise<number | string>): AsyncGenerator<WatchedEvent, undefined> {
    optionalTimer(this.#idleTimeoutMs, 'idleTimeoutMs');
    let last = await start;
    let connection: RequestOptions =
      typeof last === 'number' ? { query: { afterSeq: last, ...this.#query } } : this.#resumedAfter(last);
    let failures = 0;
    let mistakes = 0;
    try {
      while (!this.#end.aborted) {
        let failure: unknown;
        try {
          for await (const { event, data } of this.#connect(connection)) {
            failures = 0;
            if (event === 'problem') throw problemFrom(data);
            const logged = JSON.parse(data) as WatchedEvent;
            last = logged.position ?? logged.seq;
            this.requests.seen.see('GET', this.eventsPath(), logged);
            yield logged;
          }
        } catch (error) {
          if (this.#end.aborted) return undefined;
          if (error instanceof ProblemError && error.status < 500 && !error.isTemporary) throw error;
          if (isMistake(error) && mistakes >= this.requests.retries) throw error;
          failure = error;
        }
        mistakes = isMistake(failure) ? mistakes + 1 : 0;
        connection = this.#resumedAfter(last);
        failures += 1;
        if (!this.#end.aborted) await pause(failures, failure, this.#end);
      }
    } finally {
      this.#ended.abort();
    }
    return undefined;
  }

  #resumedAfter(last: number | string): RequestOptions {
    return { query: this.#query, headers: { 'Last-Event-ID': String(last) } };
  }

  async *#connect(options: RequestOptions): AsyncGenerator<Block> {
    // The server sends keep-alive comments.
    const idle = new IdleTimeout(this.#idleTimeoutMs);
    const ended = AbortSignal.any([this.#end, idle.signal]);
    const response = await idle.limit(this.requests.send('GET', `${this.eventsPath()}/stream`, options, ended));
    if (!isEventStream(response)) {
      await response.body?.cancel();
      throw notFromServer(response.status, 'a stream of events');
    }
    yield* readEventBlocks(response, idle);
  }
}

/** What time does not mend, unlike a server that is away: it is repeated a few times, in case it was somebody else's. */
function isMistake(error: unknown): boolean {
  if (error instanceof RequestHeadersError) return !error.isTemporary;
  return error instanceof ProblemError && error.status < 300;
}

export function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** A proxy may answer in the server's place. */
export function notFromServer(status: number, expected: string): ProblemError {
  return new ProblemError(status, {
    detail: `The response is not ${expected}. Check that \`url\` is the URL of the routes of sessions.`,
  });
}

/** The blocks of a response. */
export async function* readEventBlocks(response: Response, idle: IdleTimeout): AsyncGenerator<Block> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = '';
  for (;;) {
    const { done, value } = await idle.limit(reader.read());
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = findBlockField(block, 'data');
      if (data !== undefined) yield { event: findBlockField(block, 'event') ?? '', data };
    }
  }
}

function findBlockField(block: string, name: string): string | undefined {
  const line = block.split('\n').find((each) => each.startsWith(`${name}: `));
  return line?.slice(name.length + 2);
}

/** The failure that a stream ends with. */
export function problemFrom(data: string): ProblemError {
  const problem = JSON.parse(data) as Record<string, unknown>;
  return new ProblemError(Number(problem.status), problem);
}

/** Aborts a connection on which nothing arrives for so long while it is read. */
export class IdleTimeout {
  readonly #ended = new AbortController();

  constructor(private readonly limitMs: number) {}

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  async limit<Result>(waiting: Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => this.#ended.abort(), this.limitMs);
    try {
      return await waiting;
    } finally {
      clearTimeout(timer);
    }
  }
}
