import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { OneAtATime } from '../sessions/module/one-at-a-time.js';
import { ScheduledInterval } from '../sessions/module/scheduled-interval.js';
import { SWEEP_NAME } from './agenda-rounds.js';
import { SummarizerSessionManager } from './summarizer-session.manager.js';

/**
 * The scheduled job that looks for summaries that are due and nobody saw to, and the end of all of them.
 *
 * @example await app.get(SummarizerSweep).run(); // now, and not by the schedule
 */
@Injectable()
export class SummarizerSweep
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  readonly #logger = new Logger(SummarizerSweep.name);
  readonly #looking = new OneAtATime((stopping) => this.#look(stopping));
  #interval: ScheduledInterval | undefined;

  constructor(
    private readonly summaries: SummarizerSessionManager,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** A package that is missing shows at once. */
  async onModuleInit(): Promise<void> {
    if (this.summaries.sweepIntervalMs === 0) return;
    this.#interval = await ScheduledInterval.find(
      this.moduleRef,
      'Looking for summaries that are due (sweepIntervalSeconds: 0 does without)',
    );
  }

  onApplicationBootstrap(): void {
    if (this.#looking.isStopped) return;
    this.#interval?.start(SWEEP_NAME, this.summaries.sweepIntervalMs, () => this.run());
  }

  async onModuleDestroy(): Promise<void> {
    this.#interval?.stop();
    await this.#looking.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.summaries.close();
  }

  /** Looks once, unless it is at it or the app is closing. Where the store fails, the next look finds the same. */
  async run(): Promise<void> {
    await this.#looking.run();
  }

  async #look(stopping: AbortSignal): Promise<void> {
    try {
      await this.summaries.sweep(stopping);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#logger.warn(`Looking for summaries that are due did not finish: ${reason}`);
    }
  }
}
