import type { LoggedEvent } from '../sessions/domain/event.js';
import type { EventPage } from '../sessions/operations/list-events.js';
import { ProblemError } from './problem-error.js';
import { Silence } from './silence.js';
import { type RequestOptions, type Requests, pause } from './requests.js';

export interface EventStreamOptions {
  /** The last event that is known already; from now on unless given. */
  readonly afterSeq?: number | undefined;
  /** Ends the watching. */
  readonly signal?: AbortSignal | undefined;
  /** How long a connection may say nothing before a new one is made; 45,000 ms unless given. */
  readonly silenceMs?: number | undefined;
}

/** Three times as long as the routes are ever quiet. */
const SILENCE_MS = 45_000;

/** One block of a stream of server-sent events. */
interface Block {
  readonly event: string;
  readonly data: string;
}

/** Follows a stream, over as many connections as it takes; the number of the last event says where to go on. */
export class EventStream implements AsyncIterableIterator<LoggedEvent> {
  readonly #ended = new AbortController();
  readonly #end: AbortSignal;
  readonly #silenceMs: number;
  readonly #events: AsyncGenerator<LoggedEvent, undefined>;

  constructor(
    private readonly requests: Requests,
    private readonly eventsPath: () => string,
    { afterSeq, signal, silenceMs = SILENCE_MS }: EventStreamOptions,
  ) {
    this.#silenceMs = silenceMs;
    this.#end = signal === undefined ? this.#ended.signal : AbortSignal.any([signal, this.#ended.signal]);
    const start = this.#startAfter(afterSeq);
    // Whoever takes the first event hears of a failure.
    start.catch(() => undefined);
    this.#events = this.#follow(start);
  }

  next(): Promise<IteratorResult<LoggedEvent, undefined>> {
    return this.#events.next();
  }

  /** Ends the stream, also while somebody waits for the next event, and leaves no connection behind. */
  return(): Promise<IteratorResult<LoggedEvent, undefined>> {
    this.#ended.abort();
    return this.#events.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * "Now" is when the stream is asked for. It is known before the first connection: one that breaks at once must not lose
   * what comes meanwhile.
   */
  async #startAfter(afterSeq: number | undefined): Promise<number> {
    if (this.#end.aborted) return 0;
    const path = this.eventsPath();
    if (afterSeq !== undefined) return afterSeq;
    const options = { query: { limit: 1, order: 'desc' }, isRepeatable: true, signal: this.#end };
    try {
      return ((await this.requests.json('GET', path, options)) as EventPage).lastSeq;
    } catch (error) {
      // Whoever ended it meanwhile asks no more.
      if (this.#end.aborted) return 0;
      throw error;
    }
  }

  async *#follow(start: Promise<number>): AsyncGenerator<LoggedEvent, undefined> {
    let lastSeq = await start;
    let connection: RequestOptions = { query: { afterSeq: lastSeq } };
    let failures = 0;
    try {
      while (!this.#end.aborted) {
        let failure: unknown;
        try {
          for await (const { event, data } of this.#connect(connection)) {
            failures = 0;
            if (event === 'problem') throw problemFrom(data);
            const logged = JSON.parse(data) as LoggedEvent;
            lastSeq = logged.seq;
            yield logged;
          }
        } catch (error) {
          if (this.#end.aborted) return undefined;
          if (error instanceof ProblemError && error.status < 500 && !error.isTemporary) throw error;
          failure = error;
        }
        connection = { headers: { 'Last-Event-ID': String(lastSeq) } };
        failures += 1;
        if (!this.#end.aborted) await pause(failures, failure, this.#end);
      }
    } finally {
      this.#ended.abort();
    }
    return undefined;
  }

  async *#connect(options: RequestOptions): AsyncGenerator<Block> {
    // A server that is there sends a comment from time to time.
    const silence = new Silence(this.#silenceMs);
    const ended = AbortSignal.any([this.#end, silence.signal]);
    yield* blocksOf(
      await silence.limit(this.requests.send('GET', `${this.eventsPath()}/stream`, options, ended)),
      silence,
    );
  }
}

async function* blocksOf(response: Response, silence: Silence): AsyncGenerator<Block> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = '';
  for (;;) {
    const { done, value } = await silence.limit(reader.read());
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = fieldOf(block, 'data');
      if (data !== undefined) yield { event: fieldOf(block, 'event') ?? '', data };
    }
  }
}

function fieldOf(block: string, name: string): string | undefined {
  const line = block.split('\n').find((each) => each.startsWith(`${name}: `));
  return line?.slice(name.length + 2);
}

function problemFrom(data: string): ProblemError {
  const problem = JSON.parse(data) as Record<string, unknown>;
  return new ProblemError(Number(problem.status), problem);
}
