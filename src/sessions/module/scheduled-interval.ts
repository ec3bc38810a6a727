import type { ModuleRef } from '@nestjs/core';
import { LONGEST_TIMER_MS } from '../../config/store-rules.js';
import { loadPackage } from './load-package.js';

/** What is used of SchedulerRegistry. */
interface Intervals {
  doesExist(type: 'interval', name: string): boolean;
  addInterval(name: string, interval: NodeJS.Timeout): void;
  deleteInterval(name: string): void;
}

/** A job of the app's schedule: in the registry of its own ScheduleModule, where it has one. */
export class ScheduledInterval {
  readonly #intervals: Intervals;
  #stop: () => void = () => undefined;

  private constructor(intervals: Intervals) {
    this.#intervals = intervals;
  }

  /** @param neededBy what the package is for, should it be missing */
  static async find(moduleRef: ModuleRef, neededBy: string): Promise<ScheduledInterval> {
    const { SchedulerRegistry } = await loadPackage(() => import('@nestjs/schedule'), neededBy);
    return new ScheduledInterval(foundIn(moduleRef, SchedulerRegistry) ?? new SchedulerRegistry());
  }

  /** Of a name that is taken, by another module of the same kind, it takes the next one. */
  start(wantedName: string, everyMs: number, job: () => unknown): void {
    let name = wantedName;
    for (let number = 2; this.#intervals.doesExist('interval', name); number++) name = `${wantedName}:${number}`;
    const interval = setInterval(() => void job(), Math.min(everyMs, LONGEST_TIMER_MS));
    // An app that has nothing else to do may end.
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

function foundIn(moduleRef: ModuleRef, token: abstract new (...values: never[]) => Intervals): Intervals | undefined {
  try {
    return moduleRef.get(token, { strict: false });
  } catch {
    return undefined;
  }
}
