import { Cluster } from 'ioredis';
import { StoreUnavailableError } from '../../domain/errors.js';
import { notConnected, openingFailure, storeUnavailable, timedOut } from './driver-errors.js';
import {
  DEFAULT_COMMAND_TIMEOUT_MS,
  DEFAULT_PREFIX,
  type RedisClient,
  type RedisSessionStorageOptions,
  type WaitReplicas,
  createClient,
} from './redis-options.js';
import { RightsCheck } from './rights-check.js';
import { within } from './time-limit.js';
import { runAndReplicate, runScript } from './run-script.js';
import type { ScriptCall, ScriptRunner } from './script-runner.js';
import type { Script } from './scripts/script.js';

interface RunOptions {
  readonly isWrite: boolean;
  /** By when the call has to end that the script belongs to. */
  readonly deadline: number;
}

/** Runs scripts over a client, each within a time limit unless they belong to one call. */
export class RedisConnection implements ScriptRunner {
  readonly #client: RedisClient;
  readonly #isOwn: boolean;
  readonly #timeoutMs: number;
  /** For an answer: with replicas, these may take their time as well. */
  readonly #limitMs: number;
  readonly #waitReplicas: WaitReplicas | undefined;
  readonly #now: () => string;
  readonly #rights: RightsCheck;
  #connecting: Promise<boolean> | undefined;
  #lastError: unknown;
  #answeredAt = performance.now();
  #isClosed = false;

  constructor(options: RedisSessionStorageOptions) {
    this.#client = options.client ?? createClient(options);
    this.#isOwn = options.client === undefined;
    this.#timeoutMs = options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS;
    this.#waitReplicas = options.waitReplicas;
    this.#limitMs = this.#timeoutMs + (options.waitReplicas?.timeoutMs ?? 0);
    this.#rights = new RightsCheck(this.#client, options.prefix ?? DEFAULT_PREFIX);
    const { clock } = options;
    this.#now = clock ? () => String(clock.now()) : () => '';
    // Whoever runs into an error gets it; without a listener the client would print it as well.
    if (this.#isOwn) this.#client.on('error', (error: unknown) => (this.#lastError = error));
    // A connection that was just made has not been silent yet.
    if (this.#isOwn) this.#client.on('ready', () => (this.#answeredAt = performance.now()));
  }

  /** For whoever needs connections of its own to the same servers. */
  get client(): RedisClient {
    return this.#client;
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  get isCluster(): boolean {
    return this.#client.isCluster;
  }

  /** Connects, so that a wrong setting shows at once. */
  async open(): Promise<void> {
    try {
      await this.#ready(this.#newDeadline());
    } catch (error) {
      throw openingFailure(error, this.#lastError);
    }
  }

  /** Begins a call: all its scripts, and the wait for a connection, share one time limit. */
  call(): ScriptRunner {
    const deadline = this.#newDeadline();
    return {
      read: (script, call) => this.#run(script, call, { isWrite: false, deadline }),
      write: (script, call) => this.#run(script, call, { isWrite: true, deadline }),
    };
  }

  read<Reply>(script: Script, call: ScriptCall): Promise<Reply> {
    return this.#run(script, call, { isWrite: false, deadline: this.#newDeadline() });
  }

  write<Reply>(script: Script, call: ScriptCall): Promise<Reply> {
    return this.#run(script, call, { isWrite: true, deadline: this.#newDeadline() });
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

  #newDeadline(): number {
    return performance.now() + this.#limitMs;
  }

  async #run<Reply>(script: Script, { keys, args }: ScriptCall, { isWrite, deadline }: RunOptions): Promise<Reply> {
    await this.#ready(deadline);
    const left = deadline - performance.now();
    // What is sent now would be given up before it can be answered.
    if (left <= 0) throw timedOut(this.#limitMs, false);
    const all = [...keys, this.#now(), ...args];
    const replicas = isWrite ? this.#waitReplicas : undefined;
    const answer = replicas
      ? runAndReplicate(this.#client, script, keys.length, all, replicas)
      : runScript(this.#client, script, keys.length, all);
    const noteAnswer = (): unknown => (this.#answeredAt = performance.now());
    void answer.then(noteAnswer, noteAnswer);
    const onTimeout = (): Error => {
      this.#giveUpSilence();
      return timedOut(this.#limitMs, isWrite);
    };
    try {
      return (await within(left, answer, onTimeout)) as Reply;
    } catch (error) {
      throw storeUnavailable(error, isWrite);
    }
  }

  /**
   * Where nothing at all came back for so long, a new connection may be better. The client's own `socketTimeout`
   * would at times hit the connection after the one that it is meant for.
   */
  #giveUpSilence(): void {
    if (!this.#isOwn || performance.now() - this.#answeredAt < this.#limitMs || this.#connecting) return;
    this.#client.disconnect(true);
    void this.#connect();
  }

  /** Nothing is sent before there is a connection, so that nothing is sent after its caller gave up. */
  async #ready(deadline: number): Promise<void> {
    if (this.#isClosed) throw new StoreUnavailableError('The session store is closed.', false);
    const late = (): Error => notConnected(this.#timeoutMs, this.#lastError);
    if (this.#client.status !== 'ready' || this.#connecting) {
      // Others may have begun to connect long ago, or have just begun.
      if (!(await within(deadline - performance.now(), this.#connect(), late))) throw late();
    }
    if (!this.#rights.isPassed) await within(deadline - performance.now(), this.#rights.pass(), late);
  }

  /** Where the server has no database of the wanted number, the client would go on in the first one. */
  async #isInItsDatabase(): Promise<boolean> {
    const client = this.#client;
    if (!this.#isOwn || client instanceof Cluster || !client.options.db) return true;
    try {
      await client.select(client.options.db);
      return true;
    } catch (error) {
      this.#lastError = error;
      // Refused, not cut off: it would be refused again.
      if (client.status === 'ready') client.disconnect();
      return false;
    }
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
      const onReady = (): void => void this.#isInItsDatabase().then(settle);
      const onEnd = (): void => settle(false);
      const timer = setTimeout(onEnd, this.#timeoutMs);
      client.once('ready', onReady).once('end', onEnd);
      if (client.status === 'wait') client.connect().catch(() => undefined);
    });
  }
}
