import { Logger, type OnApplicationBootstrap, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { DEFAULT_TTL } from '../../config/session-settings.js';
import { withLease } from '../leases/with-lease.js';
import type { SessionService } from '../session.service.js';
import type { PurgeCounts, SessionStorage } from '../storage/session-storage.js';
import { checkSchedule, ScheduledInterval, SingleFlight } from './scheduled-work.js';
import type { SessionsModuleOptions } from './sessions-module-options.js';

/** Name of the interval in SchedulerRegistry, and of the lease. */
export const CLEANUP_NAME = 'nestjs-agent-sessions:cleanup';

/** How long other instances wait after a crash during a cleanup. */
const LEASE_MS = 30_000;

/**
 * The scheduled job that removes expired data: one instance at a time, in batches, if data can expire.
 *
 * @example const removed = await app.get(SessionsCleanup).run(); // now, independent of the schedule
 */
export class SessionsCleanup implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(SessionsCleanup.name);
  readonly #cleaning = new SingleFlight((stopping) => this.#clean(stopping));
  #interval: ScheduledInterval | undefined;

  constructor(
    private readonly sessions: SessionService,
    private readonly moduleRef: ModuleRef,
    private readonly storage: SessionStorage,
    private readonly options: SessionsModuleOptions,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.intervalMs !== undefined) this.#interval = await ScheduledInterval.find(this.moduleRef);
  }

  onApplicationBootstrap(): void {
    if (this.#cleaning.isStopped || this.intervalMs === undefined) return;
    this.#interval?.start(CLEANUP_NAME, this.intervalMs, () => this.run());
  }

  async onModuleDestroy(): Promise<void> {
    this.#interval?.stop();
    await this.#cleaning.stop();
  }

  /**
   * Removes expired data. Returns `undefined` if another instance does so, the app is closing or the store fails.
   */
  async run(): Promise<PurgeCounts | undefined> {
    return this.#cleaning.run();
  }

  /** Interval of the job; `undefined` if nothing can expire, or the store cleans up by itself. */
  get intervalMs(): number | undefined {
    const { enabled = DEFAULT_TTL.enabled, cleanupIntervalSeconds = DEFAULT_TTL.cleanupIntervalSeconds } =
      this.options.ttl ?? {};
    const isNeeded = enabled && cleanupIntervalSeconds > 0 && !this.storage.cleansUpByItself;
    if (!isNeeded || this.options.cleanup === false) return undefined;
    return cleanupIntervalSeconds * 1000;
  }

  async #clean(stopping: AbortSignal): Promise<PurgeCounts | undefined> {
    const startedAt = performance.now();
    try {
      const outcome = await withLease(
        { leases: this.storage.leases, name: CLEANUP_NAME, ttlMs: LEASE_MS, onError: (error) => this.#warn(error) },
        ({ signal }) => this.sessions.purgeExpired({ signal: AbortSignal.any([signal, stopping]) }),
      );
      if (!outcome.ran) return undefined;
      this.#report(outcome.result, performance.now() - startedAt);
      return outcome.result;
    } catch (error) {
      this.#warn(error);
      return undefined;
    }
  }

  #report({ sessions, userStates, appStates }: PurgeCounts, milliseconds: number): void {
    if (sessions + userStates + appStates === 0) return;
    const took = `${Math.round(milliseconds)} ms`;
    this.#logger.log(
      `Removed what expired: ${sessions} sessions, ${userStates} user states, ${appStates} app states in ${took}`,
    );
  }

  #warn(error: unknown): void {
    this.#logger.warn(`The cleanup did not finish: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Creates the job. Fails before anything is opened if a package is missing. */
export async function cleanupOf(...parts: ConstructorParameters<typeof SessionsCleanup>): Promise<SessionsCleanup> {
  const cleanup = new SessionsCleanup(...parts);
  if (cleanup.intervalMs !== undefined)
    await checkSchedule('The cleanup of expired sessions (cleanup: false does without)');
  return cleanup;
}
