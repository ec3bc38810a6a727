import type { ModuleRef } from '@nestjs/core';
import { LONGEST_TIMER_MS } from '../../config/setting.js';
import { loadPackage } from '../../config/load-package.js';

/** The used part of SchedulerRegistry. */
interface Intervals {
  doesExist(type: 'interval', name: string): boolean;
  addInterval(name: string, interval: NodeJS.Timeout): void;
  deleteInterval(name: string): void;
}

/**
 * Throws if `@nestjs/schedule` is missing.
 *
 * @param neededBy the feature that needs it, for the message
 */
export async function checkSchedule(neededBy: string): Promise<void> {
  await loadPackage(() => import('@nestjs/schedule'), neededBy);
}

/** A scheduled job, in the registry of the app's ScheduleModule if there is one. */
export class ScheduledInterval {
  readonly #intervals: Intervals;
  #stop: () => void = () => undefined;

  private constructor(intervals: Intervals) {
    this.#intervals = intervals;
  }

  /** Call it after all providers are created. */
  static async find(moduleRef: ModuleRef): Promise<ScheduledInterval> {
    return new ScheduledInterval(await findRegistry(moduleRef));
  }

  /** If another module took the name, a number is added. */
  start(wantedName: string, everyMs: number, job: () => unknown): void {
    let name = wantedName;
    for (let number = 2; this.#intervals.doesExist('interval', name); number++) name = `${wantedName}:${number}`;
    const interval = setInterval(() => void job(), Math.min(everyMs, LONGEST_TIMER_MS));
    // Does not keep the process alive.
    interval.unref();
    this.#intervals.addInterval(name, interval);
    this.#stop = () => {
      if (this.#intervals.doesExist('interval', name)) this.#intervals.deleteInterval(name);
    };
  }

  stop(): void {
    this.#stop();
  }
}

/** The registry of the app's ScheduleModule, or one of our own. */
export async function findRegistry(moduleRef: ModuleRef) {
  const { SchedulerRegistry } = await import('@nestjs/schedule');
  try {
    return moduleRef.get(SchedulerRegistry, { strict: false });
  } catch {
    return new SchedulerRegistry();
  }
}

/** Runs work once at a time. `stop` aborts running work and waits for it. */
export class SingleFlight<Result> {
  readonly #stopping = new AbortController();
  #running: Promise<Result> | undefined;

  /** @param work must not reject */
  constructor(private readonly work: (signal: AbortSignal) => Promise<Result>) {}

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Returns `undefined` if the work is running already, or after `stop`. */
  async run(): Promise<Result | undefined> {
    if (this.#running || this.isStopped) return undefined;
    this.#running = this.work(this.#stopping.signal);
    try {
      return await this.#running;
    } finally {
      this.#running = undefined;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}
