const HEARTBEAT_MS = 15_000;

/** The part of a `pg` client that is used here. */
export interface ListeningClient {
  /** The server process of this connection. */
  readonly processID?: number | null;
  readonly connection?: { readonly stream?: { destroy(): void } };
  connect(): Promise<unknown>;
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>;
  end(): Promise<void>;
  on(event: 'notification', listener: (message: { payload?: string }) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
}

export interface ListenerOptions {
  readonly newClient: () => ListeningClient;
  readonly channel: string;
  readonly timeoutMs: number;
  /** How often to check the connection. */
  readonly heartbeatMs?: number;
}

/** A connection that listens to a channel until it fails, times out or is closed. */
export class PostgresListener {
  readonly #client: ListeningClient;
  #heartbeat: NodeJS.Timeout | undefined;
  /** Whether a query is running. */
  #isQuerying = false;
  #isClosed = false;
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;

  constructor(
    private readonly options: ListenerOptions,
    onMessage: (payload: string) => void,
  ) {
    this.#client = options.newClient();
    this.#client.on('notification', ({ payload = '' }) => onMessage(payload));
    this.ended = new Promise((resolve) => {
      this.#client.on('error', resolve);
      this.#client.on('end', resolve);
    });
  }

  /** Begins to listen. Returns `false` behind a pooler. */
  async open(): Promise<boolean> {
    await this.#client.connect();
    const { rows } = await this.#query('SELECT pg_backend_pid() AS pid');
    if (!isOwnProcess(rows, this.#client)) return false;
    await this.#query(`LISTEN ${this.options.channel}`);
    if (!this.#isClosed)
      this.#heartbeat = setInterval(() => void this.#checkAlive(), this.options.heartbeatMs ?? HEARTBEAT_MS).unref();
    return true;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    // An error while closing does not matter.
    this.#client.end().catch(() => undefined);
    setTimeout(() => this.#destroySocket(), this.options.timeoutMs).unref();
  }

  async #checkAlive(): Promise<void> {
    if (this.#isQuerying) return;
    await this.#query('SELECT 1').catch(() => undefined);
  }

  /** Runs a query, and destroys the connection if there is no answer in time. */
  async #query(text: string): Promise<{ readonly rows: readonly unknown[] }> {
    const timer = setTimeout(() => this.#destroySocket(), this.options.timeoutMs).unref();
    this.#isQuerying = true;
    try {
      return await this.#client.query(text);
    } finally {
      clearTimeout(timer);
      this.#isQuerying = false;
    }
  }

  #destroySocket(): void {
    this.#client.connection?.stream?.destroy();
  }
}

/** Whether the server process that answers is the one of the login. A pooler reports a number of its own. */
export function isOwnProcess(rows: readonly unknown[], { processID }: Pick<ListeningClient, 'processID'>): boolean {
  const [{ pid } = { pid: undefined }] = rows as readonly { readonly pid?: number }[];
  return pid === processID;
}

/** The part of TypeORM's driver that is used here: the pool of `pg`. */
interface PooledDriver {
  readonly master?: {
    readonly Client: new (options: object) => ListeningClient;
    readonly options: { readonly password?: unknown; readonly ssl?: unknown };
  };
}

/** Creates a client outside of the pool with the options of the pool. */
export function newListeningClient(driver: object, timeoutMs: number): ListeningClient {
  const { Client, options } = poolOf(driver);
  // The pool makes these two non-enumerable.
  const { password, ssl } = options;
  return new Client({ ...options, password, ssl, keepAlive: true, connectionTimeoutMillis: timeoutMs });
}

/** Creates a client of the same pool for another address. */
export function newClientAt(driver: object, options: object, timeoutMs: number): ListeningClient {
  const { Client } = poolOf(driver);
  return new Client({ ...options, keepAlive: true, connectionTimeoutMillis: timeoutMs });
}

function poolOf(driver: object): NonNullable<PooledDriver['master']> {
  const { master } = driver as PooledDriver;
  if (!master) throw new Error('The driver has no pool');
  return master;
}
