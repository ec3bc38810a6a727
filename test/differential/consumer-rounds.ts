import { randomUUID } from 'node:crypto';
import type { ConsumedEvent, DeadLetter, SessionKey, SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { ClaimedWork } from '../../src/sessions/consumers/claimed-work.js';
import { checkedConsumeOptions } from '../../src/sessions/consumers/consume-options.js';
import { consumerOf, settingsText, startTime } from '../../src/sessions/consumers/consumer-settings.js';
import { Dispatcher } from '../../src/sessions/consumers/dispatcher.js';
import { ReadFailures } from '../../src/sessions/consumers/read-failures.js';
import { WorkTask } from '../../src/sessions/consumers/work-task.js';
import type { WorkEntry } from '../../src/sessions/domain/background/consumer-work.js';
import { careOf } from '../../src/sessions/domain/background/work-claims.js';
import type { ConsumerStore } from '../../src/sessions/storage/coordination.js';
import type { ManualClock } from './clock.js';
import { CONSUMERS, KEYS, type Register } from './consumer-operations.js';
import { type Delivery, type Fate, ModelConsumer } from './model/model-consumer.js';

/** Also longer than a pause after a failure. */
const LEASE_MS = 30_000;
const RETRY_MS = 20_000;
/** Enough for hints that arrive late. */
const MOST_ROUNDS = 500;

/** A session as of now. */
export interface LiveSession extends SessionKey {
  readonly incarnation: string;
  readonly lastSeq: number;
}

/** Ends a worker without a trace. */
class Crash extends Error {}

interface Worker {
  /** Whether another worker may take over during its handler. */
  readonly isAlone: boolean;
  readonly stopping: AbortController;
  left: number;
  isDead: boolean;
  /** A delivery that the model refused. */
  problem?: Error;
}

/** Runs the parts of `sessions.consume` round by round, and checks each delivery against the model. */
export class ConsumerRounds {
  readonly consumers = new Map<string, ModelConsumer>();
  readonly #starts = new Map<string, ReturnType<typeof consumerOf>>();

  constructor(
    readonly service: SessionService,
    readonly storage: SessionStorage,
    private readonly clock: ManualClock,
    private readonly fates: readonly Fate[],
  ) {}

  async register({ consumer: place, apps, from, maxTries }: Register): Promise<void> {
    const name = CONSUMERS[place] ?? '';
    this.clock.time++;
    const settings = settingsText({ apps, from, ...(from === 'start' && { fill: {} }) });
    const registered = consumerOf(await this.storage.consumers.register(name, settings));
    if (this.consumers.has(name)) return;
    const before = from === 'now' ? await this.sessions() : [];
    const starts = new Map(before.map(({ incarnation, lastSeq }) => [incarnation, lastSeq]));
    this.#starts.set(name, registered);
    this.consumers.set(name, new ModelConsumer({ name, apps, maxTries, starts }));
    this.clock.time++;
  }

  async remove(place: number): Promise<void> {
    const name = CONSUMERS[place] ?? '';
    await this.service.consumers.remove(name);
    this.consumers.delete(name);
  }

  /** All sessions that exist. */
  async sessions(): Promise<LiveSession[]> {
    const found: LiveSession[] = [];
    for (const key of KEYS) {
      const read = await this.storage.read({ key });
      if (read) found.push({ ...key, incarnation: read.record.incarnation, lastSeq: read.record.lastSeq });
    }
    return found;
  }

  /** As the dispatcher of another process. */
  async dispatch(): Promise<void> {
    const dispatcher = new Dispatcher({
      storage: this.storage,
      onWork: () => undefined,
      onLeaseError: (error) => {
        throw error;
      },
    });
    expect(await dispatcher.run(new AbortController().signal)).toBe(true);
  }

  /** Claims work, and does it. Returns the number of claimed entries. */
  async work(model: ModelConsumer, limit: number, stopAfter = Infinity): Promise<number> {
    const { name: consumer } = model.options;
    const claim = { consumer, claim: randomUUID(), limit, forMs: LEASE_MS };
    const entries = await this.storage.consumers.claim(claim);
    for (const entry of entries) {
      const stopping = new AbortController();
      await this.#workOn(model, entry, { isAlone: limit === 1, stopping, left: stopAfter, isDead: false });
    }
    return entries.length;
  }

  async letters({ options }: ModelConsumer): Promise<DeadLetter[]> {
    const listed = await this.service.consumers.deadLetters({ consumer: options.name, limit: 1_000 });
    return listed.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  }

  async resolve(model: ModelConsumer, place: number, how: 'retry' | 'drop'): Promise<void> {
    const letters = await this.letters(model);
    const letter = letters[place % letters.length];
    if (!letter) return;
    const { consumers } = this.service;
    const resolve = (): Promise<boolean> => (how === 'retry' ? consumers.retry(letter) : consumers.drop(letter));
    expect([await resolve(), await resolve()]).toEqual([true, false]);
    if (how === 'retry') model.retry(letter.incarnation, letter.seq);
    else model.drop(letter.incarnation, letter.seq);
  }

  /** Works until nothing is left to do. */
  async drain(): Promise<void> {
    this.clock.time += LEASE_MS;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      await this.dispatch();
      let claimed = 0;
      for (const model of this.consumers.values()) claimed += await this.work(model, 10);
      if (claimed > 0) this.clock.time += LEASE_MS;
      else if (await this.#isIdle()) return;
    }
  }

  async #isIdle(): Promise<boolean> {
    const sessions = await this.sessions();
    const isFilling = (await this.service.consumers.list()).some((consumer) => consumer.isFilling);
    return !isFilling && [...this.consumers.values()].every((model) => pendingOf(model, sessions).length === 0);
  }

  async #workOn(model: ModelConsumer, entry: WorkEntry, worker: Worker): Promise<void> {
    const { name, maxTries } = model.options;
    const registered = this.#starts.get(name);
    if (!registered) throw new Error(`${name} is not registered`);
    const handler = (event: ConsumedEvent): Promise<void> => this.#handle(model, entry, event, worker);
    const settings = { maxTries, firstRetryMs: RETRY_MS, maxRetryMs: RETRY_MS, leaseMs: LEASE_MS };
    const task = new WorkTask({
      storage: this.storage,
      work: new ClaimedWork(mortal(this.storage.consumers, worker), entry, LEASE_MS, performance.now()),
      consumer: checkedConsumeOptions({ name, handler, ...settings }),
      startTime: startTime(registered, entry.since),
      stopping: worker.stopping.signal,
      readFailures: new ReadFailures(),
      onFailure: () => undefined,
    });
    await task.run().catch((error: unknown) => {
      if (!(error instanceof Error && error.cause instanceof Crash)) throw error;
    });
    if (worker.problem) throw worker.problem;
  }

  async #handle(model: ModelConsumer, entry: WorkEntry, { key, event, attempt }: ConsumedEvent, worker: Worker) {
    const { incarnation, letterSeq } = entry;
    const isAlone = careOf(entry.claim) === 'alone';
    const delivery = { incarnation, seq: event.seq, attempt, isLetter: letterSeq > 0, isAlone };
    switch (this.#deliver(model, key, delivery, worker)) {
      case 'throws':
        throw new Error(problemOf(delivery));
      case 'crashes':
        worker.isDead = true;
        throw new Crash();
      case 'overtaken':
        this.clock.time += LEASE_MS;
        if (worker.isAlone) await this.work(model, 10);
        model.handled(delivery);
        // Its own clock tells it that its time is over. It still tries to save its progress.
        worker.stopping.abort();
    }
    if (--worker.left === 0) worker.stopping.abort();
  }

  #deliver(model: ModelConsumer, key: SessionKey, delivery: Delivery, worker: Worker): Fate['kind'] {
    const place = KEYS.findIndex((known) => nameOf(known) === nameOf(key)) + delivery.seq;
    const fate = this.fates[place % this.fates.length] ?? WORKS;
    try {
      if (!model.wants(key.appName)) throw new Error(`An event of ${key.appName} came`);
      return model.deliver(delivery, fate.kind === 'overtaken' && !worker.isAlone ? WORKS : fate);
    } catch (error) {
      worker.problem = new Error(`${model.options.name}, ${nameOf(key)}: ${String(error)}`, { cause: error });
      worker.isDead = true;
      throw new Crash();
    }
  }
}

const WORKS: Fate = { kind: 'works' };

/** The message of a handler that throws. */
export function problemOf({ seq, attempt }: Pick<Delivery, 'seq' | 'attempt'>): string {
  return `Event ${seq} failed ${attempt} times`;
}

export function nameOf({ appName, userId, sessionId, seq = 0 }: SessionKey & { readonly seq?: number }): string {
  return JSON.stringify([appName, userId, sessionId, seq]);
}

/** The sessions of which a consumer must still get events. */
export function pendingOf(model: ModelConsumer, sessions: readonly LiveSession[]): LiveSession[] {
  const wanted = sessions.filter(({ appName }) => model.wants(appName));
  return wanted.filter(({ incarnation, lastSeq }) => model.pending(incarnation, lastSeq).length > 0);
}

/** Saves nothing after its worker has crashed. */
function mortal(store: ConsumerStore, worker: Worker): ConsumerStore {
  const note: ConsumerStore['note'] = async (entry, progress) => {
    if (worker.isDead) throw new Crash();
    return store.note(entry, progress);
  };
  return new Proxy(store, {
    get: (target, name): unknown => (name === 'note' ? note : Reflect.get(target, name, target)),
  });
}
