import {
  type BeforeApplicationShutdown,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { toErrorMessage } from '../sessions/domain/errors/thrown-text.js';
import { checkSchedule, ScheduledInterval, SingleFlight } from '../sessions/module/scheduled-work.js';
import type { SummarizerSessionManager } from './summarizer-session.manager.js';
import { SWEEP_NAME } from './summary-worker.js';

/**
 * The scheduled job that takes due sessions from the agenda. It also closes the summarizer on shutdown.
 *
 * @example await app.get(SummarizerSweep).run(); // now, independent of the schedule
 */
export class SummarizerSweep
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  readonly #logger = new Logger(SummarizerSweep.name);
  readonly #sweeping = new SingleFlight((stopping) => this.#sweep(stopping));
  #interval: ScheduledInterval | undefined;

  constructor(
    private readonly summaries: SummarizerSessionManager,
    private readonly moduleRef: ModuleRef,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.summaries.sweepIntervalMs !== 0) this.#interval = await ScheduledInterval.find(this.moduleRef);
  }

  onApplicationBootstrap(): void {
    if (this.#sweeping.isStopped) return;
    this.#interval?.start(SWEEP_NAME, this.summaries.sweepIntervalMs, () => this.run());
  }

  async onModuleDestroy(): Promise<void> {
    this.#interval?.stop();
    await this.#sweeping.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.summaries.close();
  }

  /** Sweeps once, unless a sweep is running or the app is closing. If the store fails, the next sweep finds the same. */
  async run(): Promise<void> {
    await this.#sweeping.run();
  }

  async #sweep(stopping: AbortSignal): Promise<void> {
    try {
      await this.summaries.sweep(stopping);
    } catch (error) {
      this.#logger.warn(`The sweep for due summaries failed: ${toErrorMessage(error)}`);
    }
  }
}

/** Creates the job. A missing package is reported at once. */
export async function sweepOf(summaries: SummarizerSessionManager, moduleRef: ModuleRef): Promise<SummarizerSweep> {
  if (summaries.sweepIntervalMs !== 0) {
    await checkSchedule('The sweep for due summaries (sweepIntervalSeconds: 0 turns it off)');
  }
  return new SummarizerSweep(summaries, moduleRef);
}
