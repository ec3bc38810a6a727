import { randomUUID } from 'node:crypto';
import type { SessionEnvironment } from '../session-environment.js';
import type { WorkEntry } from '../domain/background/consumer-work.js';
import { careOf } from '../domain/background/work-claims.js';
import { ClaimedWork } from './claimed-work.js';
import type { CheckedConsumeOptions } from './consume-options.js';
import { type RegisteredConsumer, startTime } from './consumer-settings.js';
import { PollingLoop } from './polling-loop.js';
import { ReadFailures } from './read-failures.js';
import type { WorkGate } from './work-gate.js';
import { WorkTask } from './work-task.js';

/** How many times as long a process goes on with other sessions, if it has waited in vain to be alone with one. */
const BUSY_PAUSES = 10;

/** A consumer that runs in this process. */
export interface SessionConsumer {
  readonly name: string;
  /**
   * Stops, and waits for running handlers. Other instances take over immediately.
   *
   * @example await consumer.stop();
   */
  stop(): Promise<void>;
}

/** Claims work while fewer than `concurrency` sessions are in progress. */
export class RunningConsumer implements SessionConsumer {
  readonly #tasks = new Set<Promise<void>>();
  readonly #loop: PollingLoop;
  readonly #readFailures = new ReadFailures();
  readonly #stopping = new AbortController();
  #stopped: Promise<void> | undefined;

  constructor(
    private readonly env: SessionEnvironment,
    private readonly registered: Pick<RegisteredConsumer, 'from' | 'registeredAt'>,
    private readonly options: CheckedConsumeOptions,
    private readonly gate: WorkGate,
    private readonly onStop: (consumer: RunningConsumer) => void,
  ) {
    const onError = (error: unknown): void => this.#report(this.#failure('to look for work', error));
    this.#loop = new PollingLoop({ work: () => this.#claim(), pollMs: options.pollMs, pauseMs: 0, onError });
  }

  get name(): string {
    return this.options.name;
  }

  wake(): void {
    this.#loop.wake();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.stop();
    await Promise.all(this.#tasks);
    this.onStop(this);
  }

  async #claim(): Promise<boolean> {
    const { name: consumer, concurrency, leaseMs: forMs } = this.options;
    const limit = concurrency - this.#tasks.size;
    if (limit === 0 || !this.gate.isOpen) return true;
    const claimedAt = performance.now();
    const claimed = await this.env.storage.consumers.claim({ consumer, claim: randomUUID(), limit, forMs });
    // If the process is ended again and again, another suspect is the first each time.
    for (const entry of claimed.toSorted((a, b) => a.tries - b.tries)) this.#start(entry, claimedAt);
    return true;
  }

  /** Claims more work when it has ended. */
  #start(entry: WorkEntry, claimedAt: number): void {
    const task = this.#work(entry, claimedAt)
      .catch((error: unknown) => this.#report(error))
      .finally(() => {
        this.#tasks.delete(task);
        this.wake();
      });
    this.#tasks.add(task);
    void this.env.tasks.track(this.env.tasks.name(`handler of the consumer ${this.name}`, task));
  }

  async #work(entry: WorkEntry, claimedAt: number): Promise<void> {
    const { storage } = this.env;
    const { leaseMs, pollMs } = this.options;
    const care = careOf(entry.claim);
    const work = new ClaimedWork(storage.consumers, entry, leaseMs, claimedAt);
    const entered = await this.gate.enter(care, leaseMs);
    if (entered !== 'allowed') {
      return giveBack(work, entered === 'busy' ? BUSY_PAUSES * leaseMs : pollMs).catch((error: unknown) => {
        throw this.#failure(`to give session ${JSON.stringify(entry.key.sessionId)} back`, error);
      });
    }
    const task = new WorkTask({
      storage,
      work,
      consumer: this.options,
      startTime: startTime(this.registered, entry.since),
      readFailures: this.#readFailures,
      stopping: this.#stopping.signal,
      onFailure: (error) => this.#report(error),
    });
    await task.run().finally(() => this.gate.leave(care));
  }

  #failure(what: string, cause: unknown): Error {
    return new Error(`Consumer ${JSON.stringify(this.name)} failed ${what}, and tries again`, { cause });
  }

  #report(error: unknown): void {
    this.env.tasks.trackInBackground(Promise.reject(error));
  }
}

/** This process, or another one, claims it again later. */
async function giveBack(work: ClaimedWork, dueInMs: number): Promise<void> {
  const { seq, tries, problem } = work.entry;
  try {
    await work.note({ seq, tries, problem, goesOn: false, isUntried: true, dueInMs });
  } finally {
    await work.end();
  }
}
