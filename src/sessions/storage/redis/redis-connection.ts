import { StoreUnavailableError } from '../../domain/errors.js';
import { notConnected, storeUnavailable, timedOut } from './driver-errors.js';
import {
  DEFAULT_COMMAND_TIMEOUT_MS,
  type RedisClient,
  type RedisSessionStorageOptions,
  type WaitReplicas,
  createClient,
} from './redis-options.js';
import { within } from './time-limit.js';
import { runAndReplicate, runScript } from './run-script.js';
import type { Script } from './scripts/script.js';

/** What a script is run with. */
export interface ScriptCall {
  readonly keys: readonly string[];
  /** The arguments after the time, which is always the first one. */
  readonly args: readonly (string | number)[];
}

/** Runs scripts over a client, each within a time limit. */
export class RedisConnection {
  readonly #client: RedisClient;
  readonly #isOwn: boolean;
  readonly #timeoutMs: number;
  readonly #waitReplicas: WaitReplicas | undefined;
  readonly #now: () => string;
  #connecting: Promise<boolean> | undefined;
  #lastError: unknown;
  #answeredAt = performance.now();
  #isClosed = false;

  constructor(options: RedisSessionStorageOptions) {
    this.#client = options.client ?? createClient(options);
    this.#isOwn = options.client === undefined;
    this.#timeoutMs = options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS;
    this.#waitReplicas = options.waitReplicas;
    const { clock } = options;
    this.#now = clock ? () => String(clock.now()) : () => '';
    // Whoever runs into an error gets it; without a listener the client would print it as well.
    if (this.#isOwn) this.#client.on('error', (error: unknown) => (this.#lastError = error));
  }

  get isCluster(): boolean {
    return this.#client.isCluster;
  }

  /** Connects, so that a wrong setting shows at once. */
  async open(): Promise<void> {
    await this.#ready();
  }

  /** Runs a script that changes nothing. */
  read<Reply>(script: Script, call: ScriptCall): Promise<Reply> {
    return this.#run(script, call, false);
  }

  /** Runs a script that may write. */
  write<Reply>(script: Script, call: ScriptCall): Promise<Reply> {
    return this.#run(script, call, true);
  }

  /** Waits for what was sent. A second close does nothing. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isOwn) return;
    const isConnected = this.#client.status === 'ready';
    if (isConnected)
      await within(this.#timeoutMs, this.#client.quit(), () => new Error('Not answered')).catch(() => undefined);
    this.#client.disconnect();
  }

  async #run<Reply>(script: Script, { keys, args }: ScriptCall, isWrite: boolean): Promise<Reply> {
    await this.#ready();
    const all = [...keys, this.#now(), ...args];
    const replicas = isWrite ? this.#waitReplicas : undefined;
    const limit = this.#timeoutMs + (replicas?.timeoutMs ?? 0);
    const answer = replicas
      ? runAndReplicate(this.#client, script, keys.length, all, replicas)
      : runScript(this.#client, script, keys.length, all);
    const noteAnswer = (): unknown => (this.#answeredAt = performance.now());
    void answer.then(noteAnswer, noteAnswer);
    const onTimeout = (): Error => {
      this.#giveUpSilence(limit);
      return timedOut(limit, isWrite);
    };
    try {
      return (await within(limit, answer, onTimeout)) as Reply;
    } catch (error) {
      throw storeUnavailable(error, isWrite);
    }
  }

  /**
   * Where nothing at all came back for so long, a new connection may be better. The client's own `socketTimeout`
   * would at times hit the connection after the one that it is meant for.
   */
  #giveUpSilence(limit: number): void {
    if (!this.#isOwn || performance.now() - this.#answeredAt < limit || this.#connecting) return;
    this.#client.disconnect(true);
    void this.#connect();
  }

  /** Nothing is sent before there is a connection, so that nothing is sent after its caller gave up. */
  async #ready(): Promise<void> {
    if (this.#isClosed) throw new StoreUnavailableError('The session store is closed.', false);
    if (this.#client.status === 'ready' && !this.#connecting) return;
    if (!(await this.#connect())) throw notConnected(this.#timeoutMs, this.#lastError);
  }

  #connect(): Promise<boolean> {
    this.#connecting ??= this.#connected().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  /** Whether there is a connection within the time limit. */
  #connected(): Promise<boolean> {
    const client = this.#client;
    if (client.status === 'end') return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (isReady: boolean): void => {
        clearTimeout(timer);
        client.off('ready', onReady).off('end', onEnd);
        resolve(isReady);
      };
      const onReady = (): void => settle(true);
      const onEnd = (): void => settle(false);
      const timer = setTimeout(onEnd, this.#timeoutMs);
      client.once('ready', onReady).once('end', onEnd);
      if (client.status === 'wait') client.connect().catch(() => undefined);
    });
  }
}
