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

/** A request for {@link AnswerMemory}. */
export interface MemoryRequest {
  /** Where the bytes are written to. */
  readonly connection: OutgoingStream;
  /** Whose bytes these are, see `clientOf`. Default: those of the connection. */
  readonly client?: string | OutgoingStream | undefined;
  readonly bytes: number;
  /** Bytes that all answers of the process may hold. 0 = no limit. */
  readonly maxBytes: number;
  /** Ends the reader: others wait, and it took longer than {@link READING_SECONDS}. */
  readonly onStall: () => void;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/** How long a reader may take for what it was sent, while others wait for memory. */
export const READING_SECONDS = 5;

const LOOK_MS = 500;

/** A client gets this part of the memory at most, or one request. */
const PARTS = 4;

/**
 * The memory of a process that answers of all transports hold together: plain ones, events of live streams, and operations over
 * WebSockets. It is reserved before the store is read, and returned when the connection has sent what was written. Who gets none
 * waits. If that takes long, the slowest readers are ended: of all clients, or of the one that waits for its own part.
 *
 * @example
 * const share = await AnswerMemory.ofProcess.reserve({ connection: response, client, bytes, maxBytes, onStall, signal });
 * response.write(await text());
 * share?.resize(written);
 * share?.release();
 */
export class AnswerMemory {
  static readonly ofProcess = new AnswerMemory();

  readonly #bytes = new ByteSemaphore();
  readonly #clients = new Map<string | OutgoingStream, ByteSemaphore>();
  readonly #connections = new WeakMap<OutgoingStream, Connection>();
  /** Oldest first. */
  readonly #shares = new Set<MemoryShare>();
  #timer: NodeJS.Timeout | undefined;

  /** Bytes that are held or reserved. */
  get held(): number {
    return this.#bytes.held;
  }

  /** How many clients hold something, or wait. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Waits for memory. Returns `undefined` if `signal` is aborted first. */
  async reserve({
    connection: to,
    client: name = to,
    maxBytes,
    onStall,
    signal,
    ...request
  }: MemoryRequest): Promise<PageShare | undefined> {
    const limit = maxBytes === 0 ? Infinity : maxBytes;
    const bytes = Math.min(request.bytes, limit);
    const client = this.#clients.get(name) ?? new ByteSemaphore();
    this.#clients.set(name, client);
    const changeClient = (by: number): void => {
      client.change(by);
      if (client.held <= 0 && client.waitingSince === undefined) this.#clients.delete(name);
    };
    if (!(await this.#enter(client, bytes, limit / PARTS, signal))) {
      changeClient(0);
      return undefined;
    }
    if (!(await this.#enter(this.#bytes, bytes, limit, signal))) {
      changeClient(-bytes);
      return undefined;
    }
    const change = (by: number): void => {
      changeClient(by);
      this.#bytes.change(by);
    };
    const share = new MemoryShare(bytes, client, this.#connectionTo(to), change, onStall, () =>
      this.#shares.delete(share),
    );
    this.#shares.add(share);
    return share;
  }

  #connectionTo(to: OutgoingStream): Connection {
    const connection = this.#connections.get(to) ?? new Connection(to);
    this.#connections.set(to, connection);
    return connection;
  }

  #enter(queue: ByteSemaphore, bytes: number, maxBytes: number, signal: AbortSignal): Promise<boolean> {
    const entry = queue.acquire(bytes, maxBytes, signal);
    if (queue.waitingSince !== undefined) this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return entry;
  }

  /** Ends as many readers as the waiting requests need, the slowest first. */
  #look(): void {
    const queues = [this.#bytes, ...this.#clients.values()].filter(({ waitingSince }) => waitingSince !== undefined);
    if (queues.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const before = performance.now() - READING_SECONDS * 1000;
    for (const queue of queues) if ((queue.waitingSince ?? Infinity) <= before) this.#endReadersFor(queue, before);
  }

  #endReadersFor(queue: ByteSemaphore, before: number): void {
    let missing = queue.wanted;
    for (const share of this.#shares) {
      if (missing <= 0) return;
      if (share.readingSince > before || (queue !== this.#bytes && share.client !== queue)) continue;
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
    readonly client: ByteSemaphore,
    private readonly connection: Connection,
    private readonly change: (by: number) => void,
    private readonly onStall: () => void,
    private readonly onFreed: () => void,
  ) {}

  resize(bytes: number): void {
    if (this.#isReleased) return;
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

/** A connection, and what it has not sent yet. */
class Connection {
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
