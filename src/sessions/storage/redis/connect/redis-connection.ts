import { setImmediate as nextTurn } from 'node:timers/promises';
import { Cluster, type Redis } from 'ioredis';
import type { StoreUnavailableError } from '../../../domain/errors/errors.js';
import { withTimeout } from '../../../domain/process/timeouts.js';
import type { RedisKeys } from '../redis-keys.js';
import type { Script, ScriptCall, ScriptRunner } from '../script/script.js';
import { createClient, serverNameOf } from './create-client.js';
import {
  isLostWithoutEffect,
  isWrongType,
  notConnected,
  openingFailure,
  storeUnavailable,
  timedOut,
  wrongTypeError,
} from './driver-errors.js';
import { evictionWarnings } from './eviction.js';
import { NodeWatchdog } from './node-watchdog.js';
import { PermissionCheck } from './permission-check.js';
import {
  DEFAULT_COMMAND_TIMEOUT_MS,
  DEFAULT_PREFIX,
  type RedisClient,
  type RedisSessionStorageOptions,
  type WaitReplicas,
} from './redis-options.js';
import { runAndReplicate, runScript } from './run-script.js';
import { storeClosed } from '../../../domain/errors/store-closed.js';

interface RunOptions {
  readonly isWrite: boolean;
  /** When the call that the script belongs to has to end. */
  readonly deadline: number;
}

/** Runs scripts over a client. Each script has a time limit; the scripts of one call share one. */
export class RedisConnection implements ScriptRunner {
  readonly #client: RedisClient;
  readonly #isOwn: boolean;
  readonly #timeoutMs: number;
  /** The time limit of a call: with replicas it includes the wait for them. */
  readonly #limitMs: number;
  readonly #waitReplicas: WaitReplicas | undefined;
  readonly #now: () => string;
  readonly #permissions: PermissionCheck;
  /** Undefined for a client of the app: its connections are not ours to close. */
  readonly #watchdog: NodeWatchdog | undefined;
  /** The name of the server in messages. */
  readonly #server: string;
  #connecting: Promise<boolean> | undefined;
  #lastError: unknown;
  #isClosed = false;

  constructor(
    options: RedisSessionStorageOptions,
    private readonly keys: RedisKeys,
    scripts: readonly Script[],
  ) {
    this.#client = options.client ?? createClient(options);
    this.#isOwn = options.client === undefined;
    this.#timeoutMs = options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS;
    this.#waitReplicas = options.waitReplicas;
    this.#limitMs = this.#timeoutMs + (options.waitReplicas?.timeoutMs ?? 0);
    this.#server = serverNameOf(this.#client, options.cluster);
    const prefix = options.prefix ?? DEFAULT_PREFIX;
    this.#permissions = new PermissionCheck(this.#client, { prefix, server: this.#server, scripts });
    const { clock } = options;
    this.#now = clock ? () => String(clock.now()) : () => '';
    if (!this.#isOwn) return;
    this.#watchdog = new NodeWatchdog(this.#client, this.#limitMs);
    // Callers get their errors; without a listener ioredis would print them as well.
    this.#client.on('error', (error: unknown) => (this.#lastError = error));
    this.#client.on('ready', () => (this.#lastError = undefined));
  }

  /** For other connections to the same servers. */
  get client(): RedisClient {
    return this.#client;
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  get isCluster(): boolean {
    return this.#client.isCluster;
  }

  /** Connects, so that a wrong setting fails immediately. */
  async open(): Promise<void> {
    try {
      await this.#ready(this.#newDeadline());
    } catch (error) {
      throw openingFailure(error, this.#lastError, this.#server);
    }
  }

  /** Asks the servers for settings that endanger what is stored. */
  async warnings(): Promise<readonly string[]> {
    const deadline = this.#newDeadline();
    await this.#ready(deadline);
    return withTimeout(deadline - performance.now(), evictionWarnings(this.#client), () => this.#timedOut(false));
  }

  /**
   * Starts a call: all its scripts and the wait for a connection share one time limit.
   *
   * @param calledAt when the caller began to wait, by `performance.now()`
   */
  startCall(calledAt = performance.now()): ScriptRunner {
    const deadline = calledAt + this.#limitMs;
    return {
      read: (script, call) => this.#run(script, call, { isWrite: false, deadline }),
      write: (script, call) => this.#run(script, call, { isWrite: true, deadline }),
    };
  }

  read<Reply>(script: Script, call: ScriptCall<Reply>): Promise<Reply> {
    return this.#run(script, call, { isWrite: false, deadline: this.#newDeadline() });
  }

  write<Reply>(script: Script, call: ScriptCall<Reply>): Promise<Reply> {
    return this.#run(script, call, { isWrite: true, deadline: this.#newDeadline() });
  }

  /** Waits for commands that were sent. A second close does nothing. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isOwn) return;
    if (this.#client.status === 'ready') {
      await withTimeout(this.#timeoutMs, this.#client.quit(), () => new Error('No response')).catch(() => undefined);
    }
    this.#client.disconnect();
  }

  #newDeadline(): number {
    return performance.now() + this.#limitMs;
  }

  /** What certainly did nothing when a connection broke runs on the next one. */
  async #run<Reply>(script: Script, call: ScriptCall<Reply>, options: RunOptions): Promise<Reply> {
    const { keys, args, usedKeys, wroteNothing } = call;
    const { isWrite, deadline } = options;
    if (!this.#isReady) await this.#ready(deadline);
    const left = deadline - performance.now();
    // There is no time left for a response.
    if (left <= 0) throw this.#timedOut(false);
    const all = [...keys, this.#now(), ...args];
    const replicas = isWrite ? this.#waitReplicas : undefined;
    const response = replicas
      ? runAndReplicate(this.#client, script, keys.length, all, {
          ...replicas,
          areNeeded: (reply) => !wroteNothing?.(reply as Reply),
        })
      : runScript(this.#client, script, keys.length, all);
    const node = this.#watchdog?.nodeFor(keys[0] ?? '');
    const noteResponse = (): void => this.#watchdog?.noteResponse(node);
    let isLate = false;
    const onTimeout = (): Error => {
      isLate = true;
      void response.then(noteResponse, noteResponse);
      this.#reconnectIfDead(node);
      return this.#timedOut(isWrite);
    };
    try {
      const reply = await withTimeout(left, response, onTimeout);
      noteResponse();
      return reply as Reply;
    } catch (error) {
      if (!isLate) noteResponse();
      // After a lost connection calls fail synchronously. Without this turn, a caller that retries immediately would keep the
      // client from handling the events of the connection.
      await nextTurn();
      if (isLostWithoutEffect(error, isWrite)) return await this.#run(script, call, options);
      if (!isWrongType(error)) throw storeUnavailable(error, isWrite, this.#server);
      const naming = wrongTypeError(this.#client, this.keys, usedKeys?.() ?? keys);
      throw await withTimeout(deadline - performance.now(), naming, () => this.#timedOut(false));
    }
  }

  #timedOut(isWrite: boolean): StoreUnavailableError {
    return timedOut(this.#limitMs, isWrite, this.#server);
  }

  #reconnectIfDead(node: Redis | undefined): void {
    if (this.#connecting || !this.#watchdog?.reconnectIfDead(node)) return;
    if (!this.isCluster) void this.#connect();
  }

  get #isReady(): boolean {
    return !this.#isClosed && this.#client.status === 'ready' && !this.#connecting && this.#permissions.isPassed;
  }

  /** Waits for a connection. Commands are not queued, so none is sent after its caller has timed out. */
  async #ready(deadline: number): Promise<void> {
    if (this.#isClosed) throw storeClosed();
    const tooLate = (): Error => {
      const isAccepted = this.#client.status === 'connect' || this.#client.status === 'ready';
      const hidesTls = hidesTlsErrors(this.#client);
      return notConnected(this.#timeoutMs, { server: this.#server, isAccepted, lastError: this.#lastError, hidesTls });
    };
    if (this.#client.status !== 'ready' || this.#connecting) {
      // Another call may have started to connect, with another deadline.
      if (!(await withTimeout(deadline - performance.now(), this.#connect(), tooLate))) throw tooLate();
    }
    if (this.#permissions.isPassed) return;
    await withTimeout(deadline - performance.now(), this.#permissions.run(), () => {
      this.#reconnectIfDead(this.#watchdog?.nodeFor(this.keys.apps));
      return tooLate();
    });
  }

  /** Selects the database again: if it does not exist, ioredis would continue in database 0. */
  async #selectDatabase(): Promise<boolean> {
    const client = this.#client;
    if (!this.#isOwn || client instanceof Cluster || !client.options.db) return true;
    try {
      await client.select(client.options.db);
      return true;
    } catch (error) {
      this.#lastError = error;
      // The server refused it and would refuse it again.
      if (client.status === 'ready') client.disconnect();
      return false;
    }
  }

  #connect(): Promise<boolean> {
    this.#connecting ??= this.#waitUntilReady().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  /** Whether the client is ready within the time limit. */
  #waitUntilReady(): Promise<boolean> {
    const client = this.#client;
    // Our own client can end by itself: Sentinel may name another master while it connects to the last one.
    const isIdle = client.status === 'wait' || (this.#isOwn && client.status === 'end');
    if (client.status === 'end' && !isIdle) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (isReady: boolean): void => {
        clearTimeout(timer);
        client.off('ready', onReady).off('end', onEnd);
        resolve(isReady);
      };
      const onReady = (): void => void this.#selectDatabase().then(settle);
      const onEnd = (): void => settle(false);
      const timer = setTimeout(onEnd, this.#timeoutMs);
      client.once('ready', onReady).once('end', onEnd);
      if (isIdle) client.connect().catch(() => undefined);
    });
  }
}

/** Whether ioredis hides TLS errors: it does while it looks for a master or for cluster nodes. */
function hidesTlsErrors(client: RedisClient): boolean {
  if (client instanceof Cluster) return Boolean(client.options.redisOptions?.tls);
  return Boolean(client.options.sentinels && client.options.sentinelTLS);
}
