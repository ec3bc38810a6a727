import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../../../domain/process/backoff.js';
import { ListenerRegistry, type MessageListener } from '../../listener-registry.js';
import type {
  ChangeFeed,
  ConsumerListener,
  LogListener,
  LogReference,
  LogSubscription,
} from '../../session-changes.js';
import { type Sql, sql } from '../sql/sql.js';
import type { ChangeNotifications, ConsumerNews, LogProgress } from '../sql/transaction.js';
import type { Tables } from '../tables.js';
import { type ListenerOptions, PostgresListener } from './postgres-listener.js';

/** The name of news for consumers. Other names are keys. */
const CONSUMERS = 'consumers';
const PAUSES = { firstMs: 50, maxMs: 2_000 };

/**
 * Receives notifications over one connection. It connects for the first listener, reconnects after an error, and
 * closes the connection after the last listener.
 */
export class PostgresFeed implements ChangeFeed {
  readonly #listeners = new ListenerRegistry();
  #connection: PostgresListener | undefined;
  #isLive = false;
  /** Stops the reconnect loop. */
  #stop: AbortController | undefined;

  constructor(private readonly options: ListenerOptions) {}

  listen({ incarnation }: LogReference, listener: LogListener): LogSubscription {
    const stop = this.#listen(incarnation, (place) => listener(...(place?.split(':').map(Number) ?? [])));
    const isLive = (): boolean => this.#isLive;
    return {
      get isLive() {
        return isLive();
      },
      stop,
    };
  }

  listenForConsumers(listener: ConsumerListener): () => void {
    return this.#listen(CONSUMERS, (news) => listener(news as Parameters<ConsumerListener>[0]));
  }

  close(): void {
    this.#isLive = false;
    this.#stop?.abort();
    this.#stop = undefined;
    this.#connection?.close();
    this.#connection = undefined;
  }

  #listen(name: string, onMessage: MessageListener): () => void {
    this.#listeners.add(name, onMessage);
    if (!this.#stop) {
      this.#stop = new AbortController();
      void this.#keepConnected(this.#stop.signal);
    }
    return () => {
      this.#listeners.remove(name, onMessage);
      if (this.#listeners.size === 0) this.close();
    };
  }

  async #keepConnected(stop: AbortSignal): Promise<void> {
    for (let failures = 0; !stop.aborted; failures++) {
      try {
        const connection = new PostgresListener(this.options, (payload) => this.#dispatch(payload));
        this.#connection = connection;
        // A pooler in between cannot deliver notifications. The watchers poll positions instead.
        if (!(await connection.open())) return connection.close();
        if (stop.aborted) return;
        failures = 0;
        this.#isLive = true;
        this.#listeners.notifyAll();
        await connection.ended;
      } catch {
        // Until then watchers poll, and report the error.
      }
      if (stop.aborted) return;
      this.#isLive = false;
      this.#connection?.close();
      const pauseMs = backoffMs(failures + 1, PAUSES, Math.random());
      await delay(pauseMs, undefined, { signal: stop, ref: false }).catch(() => undefined);
    }
  }

  #dispatch(payload: string): void {
    for (const part of payload.split(',')) {
      const [, name = part, place] = /^([^:]*):(.*)$/.exec(part) ?? [];
      this.#listeners.notify(name, place);
    }
  }
}

/**
 * Sends NOTIFY with the payload `pk:seq,pk:seq` for appends, `pk:seq:number` for partial events, or a `pk` alone for a deletion;
 * news for consumers are `consumers:marks` or `consumers:work`. Appends notify after
 * their commit and without another round trip. Within the transaction, the lock of NOTIFY would serialise commits.
 */
export class PostgresNotifications implements ChangeNotifications {
  constructor(private readonly channel: string) {}

  ofCommit(logs: readonly LogProgress[], news: ReadonlySet<ConsumerNews>): Sql {
    const reached = new Map(logs.map((log) => [log.pk, log]));
    const parts = [
      ...Array.from(reached.values(), ({ pk, lastSeq, partial }) =>
        [pk, lastSeq, ...(partial === undefined ? [] : [partial])].join(':'),
      ),
      ...Array.from(news, (kind) => `${CONSUMERS}:${kind}`),
    ];
    return sql`SELECT pg_notify(${this.channel}, ${parts.join(',')})`;
  }

  ofDeletion({ sessions }: Tables, where: Sql): Sql {
    return sql`SELECT pg_notify(${this.channel}, pk::text) FROM ${sessions} WHERE ${where}`;
  }
}

/**
 * The channel for these tables. It ignores the schema, because a search path may select it. A notification for tables of
 * the same name in another schema costs one useless read.
 */
export function formatChannelName(sessionsTable: string): string {
  return `agent_sessions_${createHash('sha256').update(sessionsTable).digest('hex').slice(0, 16)}`;
}
