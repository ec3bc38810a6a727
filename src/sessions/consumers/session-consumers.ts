import { setTimeout as delay } from 'node:timers/promises';
import { StoreUnavailableError } from '../domain/errors/errors.js';
import type { SessionEnvironment } from '../session-environment.js';
import { type ConsumeOptions, checkedConsumeOptions } from './consume-options.js';
import { type ConsumerStart, consumerOf, settingsText } from './consumer-settings.js';
import {
  type ConsumerLag,
  type DeadLetter,
  type DeadLettersRequest,
  deadLetters,
  lagOf,
  resolveLetter,
} from './consumer-status.js';
import { Dispatcher } from './dispatcher.js';
import { PollingLoop } from './polling-loop.js';
import { RunningConsumer, type SessionConsumer } from './session-consumer.js';
import { WorkGate } from './work-gate.js';

export type { ConsumeOptions, SessionConsumer };

/** A consumer as it is stored. */
export interface ConsumerInfo {
  readonly name: string;
  /** Missing: all apps. */
  readonly apps?: readonly string[] | undefined;
  readonly from: ConsumerStart;
  readonly registeredAt: number;
  /** Whether sessions that are older than the consumer are still being queued. */
  readonly isFilling: boolean;
}

/** Minimum pause between rounds of the dispatcher, so that many appends share one. */
const DISPATCH_PAUSE_MS = 25;
const RETRY_MS = 100;
const REMOVED_AT_ONCE = 1_000;

/**
 * Durable consumers: runs those of this process, and lists all consumers of the store.
 *
 * @example
 * for (const { name } of await sessions.consumers.list()) metrics.gauge(name, await sessions.consumers.lag(name));
 */
export class SessionConsumers {
  readonly #running = new Set<RunningConsumer>();
  readonly #dispatcher: Dispatcher;
  readonly #gate = new WorkGate(() => this.#wake());
  #dispatching: { readonly loop: PollingLoop; readonly stopListening: () => void } | undefined;

  constructor(private readonly env: SessionEnvironment) {
    const onError = (error: unknown): void => this.#report(error);
    const onWork = (name: string): void => this.#wake(name);
    this.#dispatcher = new Dispatcher({ storage: env.storage, onWork, onLeaseError: onError });
    env.shutdown.onRequest(() => {
      if (this.#running.size > 0) env.tasks.trackInBackground(this.stop());
    });
  }

  /** Registers a consumer if it is new, and starts it. */
  async consume(given: ConsumeOptions): Promise<SessionConsumer> {
    const options = checkedConsumeOptions(given);
    const { name, apps, from } = options;
    this.#assertOpen();
    const settings = settingsText({ apps, from, ...(from === 'start' && { fill: {} }) });
    const registered = consumerOf(await this.env.storage.consumers.register(name, settings));
    if (settingsText({ ...registered, apps }) !== registered.text) {
      while (!(await this.#dispatcher.changeApps(name, apps))) await delay(RETRY_MS);
    }
    this.#assertOpen();
    this.#dispatcher.expectFill();
    const consumer = new RunningConsumer(this.env, registered, options, this.#gate, (stopped) => this.#forget(stopped));
    this.#running.add(consumer);
    this.#startDispatching(options.pollMs);
    return consumer;
  }

  /**
   * Lists all consumers of the store.
   * @example const names = (await sessions.consumers.list()).map(({ name }) => name);
   */
  async list(): Promise<ConsumerInfo[]> {
    const stored = await this.env.storage.consumers.list();
    return stored.map(consumerOf).map(({ name, apps, from, registeredAt, fill }) => {
      return { name, apps, from, registeredAt, isFilling: fill !== undefined };
    });
  }

  /**
   * Returns the backlog of a consumer; `undefined` if there is no consumer with this name.
   * @example const { sessions, oldestWaitMs } = (await sessions.consumers.lag('webhooks')) ?? {};
   */
  async lag(name: string): Promise<ConsumerLag | undefined> {
    return lagOf(this.env.storage.consumers, name);
  }

  /**
   * Lists events that failed too often, in any order.
   * @example for (const letter of await sessions.consumers.deadLetters({ consumer: 'webhooks' })) console.log(letter.problem);
   */
  async deadLetters(request: DeadLettersRequest): Promise<DeadLetter[]> {
    return deadLetters(this.env.storage, request);
  }

  /**
   * Tries a dead letter again, in parallel to newer events of its session. Returns `false` if it is no longer a dead letter.
   * @example await sessions.consumers.retry(letter);
   */
  async retry(letter: DeadLetter): Promise<boolean> {
    const isRevived = await resolveLetter(this.env.storage.consumers, letter, 'retry');
    this.#wake(letter.consumer);
    return isRevived;
  }

  /**
   * Removes a dead letter. Returns `false` if it is no longer a dead letter.
   * @example await sessions.consumers.drop(letter);
   */
  async drop(letter: DeadLetter): Promise<boolean> {
    return resolveLetter(this.env.storage.consumers, letter, 'drop');
  }

  /**
   * Removes a consumer with its work and its dead letters. Stop its instances first.
   * @example await sessions.consumers.remove('old-webhooks');
   */
  async remove(name: string): Promise<void> {
    while (!(await this.env.storage.consumers.remove(name, REMOVED_AT_ONCE)));
  }

  /**
   * Stops all consumers of this process, and waits for running handlers.
   * @example await sessions.consumers.stop();
   */
  async stop(): Promise<void> {
    const stopping = Promise.all(Array.from(this.#running, (consumer) => consumer.stop()));
    await this.env.tasks.whileClosing(stopping);
    await this.#dispatching?.loop.stop();
  }

  #startDispatching(pollMs: number): void {
    if (this.#dispatching) return this.#dispatching.loop.wake();
    const loop = new PollingLoop({
      work: (stopping) => this.#dispatcher.run(stopping),
      pollMs,
      pauseMs: DISPATCH_PAUSE_MS,
      onError: (error) => this.#report(error),
    });
    const stopBell = this.env.changeBell.listen(() => loop.wake());
    const stopFeed = this.env.storage.feed?.listenForConsumers?.((news) => {
      if (news !== 'work') loop.wake();
      if (news !== 'marks') for (const consumer of this.#running) consumer.wake();
    });
    const stopListening = (): void => {
      stopBell();
      stopFeed?.();
    };
    this.#dispatching = { loop, stopListening };
  }

  #forget(consumer: RunningConsumer): void {
    this.#running.delete(consumer);
    if (this.#running.size > 0 || !this.#dispatching) return;
    const { loop, stopListening } = this.#dispatching;
    this.#dispatching = undefined;
    stopListening();
    this.env.tasks.trackInBackground(loop.stop());
  }

  /** @param name default: all consumers */
  #wake(name?: string): void {
    for (const consumer of this.#running) if (name === undefined || consumer.name === name) consumer.wake();
  }

  #assertOpen(): void {
    if (this.env.shutdown.isRequested) throw new StoreUnavailableError('The service is closing.', false);
  }

  #report(error: unknown): void {
    this.env.tasks.trackInBackground(Promise.reject(error));
  }
}
