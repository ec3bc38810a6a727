import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DEFAULT_TTL } from '../../config/ttl.js';
import { withLease } from '../leases/with-lease.js';
import { SessionService } from '../session.service.js';
import type { PurgeCounts, SessionStorage } from '../storage/session-storage.js';
import { OneAtATime } from './one-at-a-time.js';
import { ScheduledInterval } from './scheduled-interval.js';
import { MODULE_OPTIONS_TOKEN } from './sessions-module-definition.js';
import type { SessionsModuleOptions } from './sessions-module-options.js';
import { SESSION_STORAGE } from './sessions.tokens.js';

/** Of the interval in SchedulerRegistry, and of the lease that keeps other instances from doing the same. */
export const CLEANUP_NAME = 'nestjs-agent-sessions:cleanup';

/** How long others wait after an instance crashed in the middle. */
const LEASE_MS = 30_000;

/**
 * The scheduled job that removes what expired: one instance at a time, in batches, where anything can expire.
 *
 * @example const removed = await app.get(SessionsCleanup).run(); // now, and not by the schedule
 */
@Injectable()
export class SessionsCleanup implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(SessionsCleanup.name);
  readonly #cleaning = new OneAtATime((stopping) => this.#clean(stopping));
  #interval: ScheduledInterval | undefined;

  constructor(
    private readonly sessions: SessionService,
    private readonly moduleRef: ModuleRef,
    @Inject(SESSION_STORAGE) private readonly storage: SessionStorage,
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: SessionsModuleOptions,
  ) {}

  /** A package that is missing shows before the store is open. */
  async onModuleInit(): Promise<void> {
    if (this.#intervalMs === undefined) return;
    this.#interval = await ScheduledInterval.find(
      this.moduleRef,
      'The cleanup of expired sessions (cleanup: false does without)',
    );
  }

  onApplicationBootstrap(): void {
    if (this.#cleaning.isStopped || this.#intervalMs === undefined) return;
    this.#interval?.start(CLEANUP_NAME, this.#intervalMs, () => this.run());
  }

  async onModuleDestroy(): Promise<void> {
    this.#interval?.stop();
    await this.#cleaning.stop();
  }

  /**
   * Removes what expired, unless another instance is at it or the app is closing; then, and where the store fails,
   * nothing is answered.
   */
  async run(): Promise<PurgeCounts | undefined> {
    return this.#cleaning.run();
  }

  /** How often it runs; `undefined` where nothing can expire, or somebody else sees to it. */
  get #intervalMs(): number | undefined {
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
