import { Logger, type OnApplicationBootstrap, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { toErrorMessage } from '../sessions/domain/errors/thrown-text.js';
import { withLease } from '../sessions/leases/with-lease.js';
import { checkSchedule, ScheduledInterval, SingleFlight } from '../sessions/module/scheduled-work.js';
import type { ComponentSession } from './component-session.js';
import type { ChosenComponents } from './components-options.js';

/** Name of the interval in SchedulerRegistry, and of the lease. */
export const COMPONENTS_CLEANUP_NAME = 'nestjs-agent-sessions:components-cleanup';

/** How long other instances wait after a crash during a cleanup. */
const LEASE_MS = 30_000;
const SESSIONS_AT_ONCE = 500;

/**
 * The scheduled job that removes expired component state: one instance at a time, in batches, if state can expire.
 *
 * @example const removed = await app.get(ComponentsCleanup).run(); // now, independent of the schedule
 */
export class ComponentsCleanup implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(ComponentsCleanup.name);
  readonly #cleaning = new SingleFlight((stopping) => this.#clean(stopping));
  #interval: ScheduledInterval | undefined;

  constructor(
    private readonly components: ComponentSession,
    private readonly chosen: ChosenComponents,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** Interval of the job; `undefined` if nothing can expire. */
  get intervalMs(): number | undefined {
    const { ttlMs, cleanupIntervalMs } = this.chosen;
    return ttlMs === undefined || cleanupIntervalMs <= 0 ? undefined : cleanupIntervalMs;
  }

  async onModuleInit(): Promise<void> {
    if (this.intervalMs !== undefined) this.#interval = await ScheduledInterval.find(this.moduleRef);
  }

  onApplicationBootstrap(): void {
    if (this.#cleaning.isStopped || this.intervalMs === undefined) return;
    this.#interval?.start(COMPONENTS_CLEANUP_NAME, this.intervalMs, () => this.run());
  }

  async onModuleDestroy(): Promise<void> {
    this.#interval?.stop();
    await this.#cleaning.stop();
  }

  /**
   * Removes what has expired, and returns the number of sessions. Returns `undefined` if another instance does so, the app is
   * closing or the store fails.
   */
  async run(): Promise<number | undefined> {
    return this.#cleaning.run();
  }

  async #clean(stopping: AbortSignal): Promise<number | undefined> {
    const { leases } = this.chosen;
    const onError = (error: unknown): void => this.#warn(error);
    try {
      const outcome = leases
        ? await withLease({ leases, name: COMPONENTS_CLEANUP_NAME, ttlMs: LEASE_MS, onError }, ({ signal }) =>
            this.#purge(AbortSignal.any([signal, stopping])),
          )
        : { ran: true as const, result: await this.#purge(stopping) };
      return outcome.ran ? outcome.result : undefined;
    } catch (error) {
      this.#warn(error);
      return undefined;
    }
  }

  async #purge(signal: AbortSignal): Promise<number> {
    let total = 0;
    for (let count = SESSIONS_AT_ONCE; count === SESSIONS_AT_ONCE && !signal.aborted; total += count) {
      count = await this.components.purgeExpired(SESSIONS_AT_ONCE);
    }
    if (total > 0) this.#logger.log(`Removed the expired component state of ${total} sessions`);
    return total;
  }

  #warn(error: unknown): void {
    this.#logger.warn(`The cleanup did not finish: ${toErrorMessage(error)}`);
  }
}

/** Creates the job. Fails before anything is opened if a package is missing. */
export async function componentsCleanupOf(
  ...parts: ConstructorParameters<typeof ComponentsCleanup>
): Promise<ComponentsCleanup> {
  const cleanup = new ComponentsCleanup(...parts);
  if (cleanup.intervalMs !== undefined)
    await checkSchedule('The cleanup of expired component state (cleanupIntervalSeconds: 0 does without)');
  return cleanup;
}
