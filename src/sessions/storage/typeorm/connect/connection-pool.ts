import type { CreatedRows, DirectCreate, MessageAnswer, PlannedMessage } from '../append/direct-writes.js';
import type { Dialect } from '../sql/dialect.js';
import type { Sql } from '../sql/sql.js';
import type { CommitMessage, StatementRunner, TransactionMode } from '../sql/transaction.js';
import type { Tables } from '../tables.js';

/** A pooled connection while one transaction uses it. */
export interface PooledConnection extends StatementRunner {
  /** When it was acquired, if no byte has arrived since. */
  readonly silentSince: number | undefined;
  /** How long it was idle in the pool; 0 for a new one. */
  readonly idleMs: number;
  /** Begins a transaction together with the next statement. */
  begin(mode: TransactionMode): void;
  /** Sends BEGIN now. */
  flushBegin(): Promise<void>;
  /** The database's time when the transaction began, or when it last got locks. */
  now(): number;
  /** Runs the last statements and queries and commits, in as few round trips as the driver allows. Returns the rows of the queries. */
  commit(message: CommitMessage): Promise<readonly unknown[][]>;
  /** Whether it can write in one message, and has answered a moment ago, so that it is not lost. */
  readonly canWriteDirectly: boolean;
  /** Writes in one message, in a transaction of its own. */
  writeDirectly(message: DirectMessage): Promise<MessageAnswer>;
  /** Inserts a session in one message, in a transaction of its own. `undefined` if there is one with its ids. */
  createDirectly(tables: Tables, session: DirectCreate): Promise<CreatedRows | undefined>;
  /** Ends the transaction, if there is one. */
  rollback(): Promise<void>;
  /** Returns it to the pool. */
  release(): void;
  /** Closes it immediately. */
  discard(): void;
}

/** A write in one message. */
export interface DirectMessage {
  readonly dialect: Dialect;
  readonly tables: Tables;
  readonly message: PlannedMessage;
  /** Runs after the commit; its failure is ignored. */
  readonly notification?: Sql | undefined;
}

/** The server's time, from its answers. It is used for some seconds, in which clocks do not drift apart. */
export class ServerTime {
  #answer: { readonly time: number; readonly at: number } | undefined;

  learn(time: number): void {
    this.#answer = { time, at: performance.now() };
  }

  /** How old the answer is. */
  get age(): number {
    return this.#answer ? performance.now() - this.#answer.at : Infinity;
  }

  /** At most as late as the server's clock, unless that was set back. */
  get now(): number | undefined {
    const { age } = this;
    return this.#answer && age < TIME_IS_KNOWN_MS ? Math.floor(this.#answer.time + age) : undefined;
  }
}

const TIME_IS_KNOWN_MS = 10_000;

export interface ConnectionPool {
  /** Of all connections. */
  readonly time: ServerTime;
  acquire(): Promise<PooledConnection>;
  /** Stops using idle connections that have not answered since this time, because one connection stopped answering. */
  suspect(since: number): void;
}

const JUST_ANSWERED_MS = 10_000;

/**
 * Tracks which idle connections may be dead after one connection stopped answering. They share the same network, and
 * without this each of them would cost one failed call.
 */
export class SuspectConnections {
  readonly #answeredAt = new WeakMap<object, number>();
  #suspectSince = -Infinity;

  recordAnswer(connection: object): void {
    this.#answeredAt.set(connection, performance.now());
  }

  /** Time since its last answer; 0 for a new connection. */
  idleMsOf(connection: object): number {
    const answeredAt = this.#answeredAt.get(connection);
    return answeredAt === undefined ? 0 : performance.now() - answeredAt;
  }

  /** Whether it has answered a moment ago. */
  hasJustAnswered(connection: object): boolean {
    return performance.now() - (this.#answeredAt.get(connection) ?? -Infinity) < JUST_ANSWERED_MS;
  }

  /** Suspects connections that have not answered since this time. */
  suspect(since: number): void {
    this.#suspectSince = Math.max(this.#suspectSince, since);
  }

  /** Never true for a new connection. */
  isSuspect(connection: object): boolean {
    return (this.#answeredAt.get(connection) ?? Infinity) < this.#suspectSince;
  }
}

/** The part of a driver's connection that is used here. */
export interface ErrorEmitter {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The part of a socket that is used here. */
export interface DriverStream {
  /** Missing on custom streams. */
  readonly bytesRead?: number;
  /** Holds writes back until the next `uncork()`, which sends them with one system call. */
  cork?(): void;
  uncork?(): void;
  destroy(): void;
  once(event: 'close', listener: () => void): unknown;
}

/** The running statement reports the error too. Without a listener the `error` event would end the process. */
export function ignoreError(): void {}

/** Tracks the connections of a pool from their creation. */
export class ConnectionTracker {
  readonly #streams = new Set<() => DriverStream | undefined>();

  /** @param streamOf returns the stream, which TLS replaces */
  track(connection: ErrorEmitter, streamOf: () => DriverStream | undefined): void {
    connection.on('error', ignoreError);
    const stream = streamOf();
    if (!stream) return;
    this.#streams.add(streamOf);
    stream.once('close', () => this.#streams.delete(streamOf));
  }

  /** Whether an open connection has got an answer, at least to its login. */
  get hasAnswered(): boolean {
    return [...this.#streams].some((streamOf) => (streamOf()?.bytesRead ?? 0) > 0);
  }

  /** Destroys all open connections. */
  destroyAll(): void {
    for (const streamOf of this.#streams) streamOf()?.destroy();
  }
}
