const PULSE_MS = 15_000;

/** What is used of a client of pg. */
export interface ListeningClient {
  /** The process that the server said it is. */
  readonly processID?: number | null;
  readonly connection?: { readonly stream?: { destroy(): void } };
  connect(): Promise<unknown>;
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>;
  end(): Promise<void>;
  on(event: 'notification', listener: (message: { payload?: string }) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
}

export interface EarOptions {
  readonly newClient: () => ListeningClient;
  readonly channel: string;
  readonly timeoutMs: number;
  /** How often the connection has to show that it is alive. */
  readonly pulseMs?: number;
}

/** One connection that listens to a channel until it breaks, is silent for too long, or is closed. */
export class PostgresEar {
  readonly #client: ListeningClient;
  #pulse: NodeJS.Timeout | undefined;
  /** Whether an answer is waited for. */
  #isAsked = false;
  #isClosed = false;
  /** Resolves when nothing is heard any more. */
  readonly ended: Promise<void>;

  constructor(
    private readonly options: EarOptions,
    hear: (payload: string) => void,
  ) {
    this.#client = options.newClient();
    this.#client.on('notification', ({ payload = '' }) => hear(payload));
    this.ended = new Promise((resolve) => {
      this.#client.on('error', resolve);
      this.#client.on('end', resolve);
    });
  }

  /** Begins to listen; `false` where a pooler stands in between. */
  async open(): Promise<boolean> {
    await this.#client.connect();
    const { rows } = await this.#answered('SELECT pg_backend_pid() AS pid');
    const [{ pid }] = rows as [{ pid: number }];
    if (pid !== this.#client.processID) return false;
    await this.#answered(`LISTEN ${this.options.channel}`);
    if (!this.#isClosed)
      this.#pulse = setInterval(() => void this.#feelPulse(), this.options.pulseMs ?? PULSE_MS).unref();
    return true;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#pulse);
    // A goodbye that does not get through is nobody's problem.
    this.#client.end().catch(() => undefined);
    setTimeout(() => this.#break(), this.options.timeoutMs).unref();
  }

  async #feelPulse(): Promise<void> {
    if (this.#isAsked) return;
    await this.#answered('SELECT 1').catch(() => undefined);
  }

  /** Breaks a connection over which no answer comes in time. */
  async #answered(text: string): Promise<{ readonly rows: readonly unknown[] }> {
    const timer = setTimeout(() => this.#break(), this.options.timeoutMs).unref();
    this.#isAsked = true;
    try {
      return await this.#client.query(text);
    } finally {
      clearTimeout(timer);
      this.#isAsked = false;
    }
  }

  #break(): void {
    this.#client.connection?.stream?.destroy();
  }
}

/** What is used of TypeORM's driver: its pool of pg. */
interface PooledDriver {
  readonly master?: {
    readonly Client: new (options: object) => ListeningClient;
    readonly options: { readonly password?: unknown; readonly ssl?: unknown };
  };
}

/** A client to where the pool connects to, beside the pool. */
export function listeningClientOf(driver: object, timeoutMs: number): ListeningClient {
  const { master } = driver as PooledDriver;
  if (!master) throw new Error('The driver has no pool');
  const { Client, options } = master;
  // The pool hides these two from whoever copies its options.
  const { password, ssl } = options;
  return new Client({ ...options, password, ssl, keepAlive: true, connectionTimeoutMillis: timeoutMs });
}
