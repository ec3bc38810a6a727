import type { PageShare } from '../operations/watch-session.js';
import { ByteSemaphore } from './byte-semaphore.js';

/** The part of a response or socket that is used here. */
export interface OutgoingStream {
  readonly closed: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  readonly writableNeedDrain: boolean;
  on(event: 'close' | 'drain' | 'finish', listener: () => void): unknown;
}

/** A request for {@link StreamMemory}. */
export interface MemoryRequest {
  /** Where the bytes are written to. */
  readonly connection: OutgoingStream;
  readonly bytes: number;
  /** Bytes that all streams of the process may hold. 0 = no limit. */
  readonly maxBytes: number;
  /** Ends the reader: others wait, and it took longer than {@link READING_SECONDS}. */
  readonly onStall: () => void;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/** How long a reader may take for what it was sent, while others wait for memory. */
export const READING_SECONDS = 5;

const LOOK_MS = 500;

/** A connection gets this part of the memory at most, or one request. */
const PARTS = 8;

/**
 * The memory that the readers of live streams, and of operations over WebSockets, hold together. It is reserved before an
 * event is read, and returned when the connection has sent what was written. A stream that gets none waits. If it waits
 * long, the slowest readers are ended.
 *
 * @example
 * const share = await StreamMemory.ofProcess.reserve({ connection: response, bytes, maxBytes, onStall, signal });
 * response.write(await text());
 * share?.resize(written);
 * share?.release();
 */
export class StreamMemory {
  static readonly ofProcess = new StreamMemory();

  readonly #bytes = new ByteSemaphore();
  readonly #connections = new WeakMap<OutgoingStream, Connection>();
  /** Oldest first. */
  readonly #shares = new Set<MemoryShare>();
  #timer: NodeJS.Timeout | undefined;

  /** Bytes that are held or reserved. */
  get held(): number {
    return this.#bytes.held;
  }

  /** Waits for memory. Returns `undefined` if `signal` is aborted first. */
  async reserve({
    connection: to,
    maxBytes,
    onStall,
    signal,
    ...request
  }: MemoryRequest): Promise<PageShare | undefined> {
    const limit = maxBytes === 0 ? Infinity : maxBytes;
    const bytes = Math.min(request.bytes, limit);
    const connection = this.#connectionTo(to);
    if (!(await connection.bytes.acquire(bytes, limit / PARTS, signal))) return undefined;
    const entry = this.#bytes.acquire(bytes, limit, signal);
    if (this.#bytes.waitingSince !== undefined) this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    if (!(await entry)) {
      connection.bytes.change(-bytes);
      return undefined;
    }
    const change = (by: number): void => {
      connection.bytes.change(by);
      this.#bytes.change(by);
    };
    const share = new MemoryShare(bytes, connection, change, onStall, () => this.#shares.delete(share));
    this.#shares.add(share);
    return share;
  }

  #connectionTo(to: OutgoingStream): Connection {
    const connection = this.#connections.get(to) ?? new Connection(to);
    this.#connections.set(to, connection);
    return connection;
  }

  /** Ends as many readers as the waiting requests need, the slowest first. */
  #look(): void {
    const { waitingSince, wanted } = this.#bytes;
    if (waitingSince === undefined) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const before = performance.now() - READING_SECONDS * 1000;
    if (waitingSince > before) return;
    let missing = wanted;
    for (const share of this.#shares) {
      if (missing <= 0) return;
      if (share.readingSince > before) continue;
      missing -= share.bytes;
      share.stall();
    }
  }
}

/** The part of the memory that one reader holds. */
class MemoryShare implements PageShare {
  /** When the reader got its bytes. The time that the store needs does not count. */
  readingSince = Infinity;
  #isStalled = false;
  #isReleased = false;

  constructor(
    public bytes: number,
    private readonly connection: Connection,
    private readonly change: (by: number) => void,
    private readonly onStall: () => void,
    private readonly onFreed: () => void,
  ) {}

  resize(bytes: number): void {
    this.readingSince = performance.now();
    const by = bytes - this.bytes;
    this.bytes = bytes;
    if (by !== 0) this.change(by);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.connection.whenTaken(() => {
      this.onFreed();
      this.change(-this.bytes);
    });
  }

  /** Ends the reader, once. */
  stall(): void {
    if (this.#isStalled) return;
    this.#isStalled = true;
    this.onStall();
  }
}

/** A connection, and the bytes that it has not sent yet. */
class Connection {
  readonly bytes = new ByteSemaphore();
  readonly #untaken = new Set<() => void>();

  constructor(private readonly to: OutgoingStream) {
    for (const event of ['drain', 'finish', 'close'] as const) to.on(event, () => this.#take());
  }

  /** Calls `done` when everything that was written so far is on its way, or the connection is closed. */
  whenTaken(done: () => void): void {
    const { closed, writableEnded, writableFinished, writableNeedDrain } = this.to;
    if (closed || writableFinished || !(writableEnded || writableNeedDrain)) done();
    else this.#untaken.add(done);
  }

  #take(): void {
    const taken = [...this.#untaken];
    this.#untaken.clear();
    for (const done of taken) done();
  }
}
