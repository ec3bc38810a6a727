import { createRequire } from 'node:module';
import type { ModuleRef } from '@nestjs/core';
import { ConfigurationError } from '../../config/configuration-error.js';
import { requireOfPackage } from '../../config/own-package.js';
import type { CronSchedule } from '../../config/session-settings.js';
import { toErrorMessage } from '../domain/errors/thrown-text.js';
import { findRegistry } from './scheduled-work.js';

/** The used part of a job of the package `cron`. */
interface CronJob {
  start(): void;
}

interface CronPackage {
  readonly CronJob: {
    from(job: {
      readonly cronTime: string;
      readonly timeZone?: string | undefined;
      readonly onTick: () => unknown;
      readonly unrefTimeout: boolean;
    }): CronJob;
  };
}

/** The used part of SchedulerRegistry. */
interface CronJobs {
  doesExist(type: 'cron', name: string): boolean;
  addCronJob(name: string, job: CronJob): void;
  deleteCronJob(name: string): void;
}

/**
 * Refuses an expression that is never due.
 *
 * @param option what gives it, for the message
 * @throws ConfigurationError
 */
export function checkCron({ cron, timeZone }: CronSchedule, option: string): void {
  try {
    jobOf({ cron, timeZone }, () => undefined);
  } catch (error) {
    const zone = timeZone === undefined ? '' : ` in the time zone ${JSON.stringify(timeZone)}`;
    throw new ConfigurationError([
      `${option} is ${JSON.stringify(cron)}${zone}, which is no time of a cron job, such as '0 3 * * *' for three o'clock: ${toErrorMessage(error)}`,
    ]);
  }
}

/** A job by a cron expression, in the registry of the app's ScheduleModule if there is one. */
export class ScheduledCron {
  #stop: () => void = () => undefined;

  private constructor(
    private readonly jobs: CronJobs,
    private readonly schedule: CronSchedule,
  ) {}

  /** Call it after all providers are created. */
  static async find(moduleRef: ModuleRef, schedule: CronSchedule): Promise<ScheduledCron> {
    return new ScheduledCron(await findRegistry(moduleRef), schedule);
  }

  start(name: string, onTick: () => unknown): void {
    const job = jobOf(this.schedule, onTick);
    this.jobs.addCronJob(name, job);
    job.start();
    this.#stop = () => {
      if (this.jobs.doesExist('cron', name)) this.jobs.deleteCronJob(name);
    };
  }

  stop(): void {
    this.#stop();
  }
}

/** Does not run yet, and does not keep the process alive. */
function jobOf({ cron, timeZone }: CronSchedule, onTick: () => unknown): CronJob {
  return cronPackage().CronJob.from({ cronTime: cron, timeZone, onTick, unrefTimeout: true });
}

/** The one that `@nestjs/schedule` uses, which an app need not install. */
function cronPackage(): CronPackage {
  const schedule = requireOfPackage().resolve('@nestjs/schedule/package.json');
  return createRequire(schedule)('cron') as CronPackage;
}
