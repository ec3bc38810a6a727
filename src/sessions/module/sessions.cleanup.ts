import {
  type InjectionToken,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { type CleanupTimes, type CronSchedule, DEFAULT_TTL, type TtlSettings } from '../../config/session-settings.js';
import type { RetentionSettings } from '../../config/retention-settings.js';
import { toErrorMessage } from '../domain/errors/thrown-text.js';
import { withLease } from '../leases/with-lease.js';
import { SessionRetention } from '../session-retention.js';
import { SessionService } from '../session.service.js';
import type { PurgeCounts, SessionStorage } from '../storage/session-storage.js';
import { ScheduledCron, checkCron } from './scheduled-cron.js';
import { checkSchedule, ScheduledInterval, SingleFlight } from './scheduled-work.js';

/** Name of the interval and of the cron job in SchedulerRegistry, and of the lease. That of a store with a name has it at its end: `…:cleanup:archive`. */
export const CLEANUP_NAME = 'nestjs-agent-sessions:cleanup';

/**
 * The injection token of the cleanup of the store with this name. Without a name, it is the class.
 *
 * @example await app.get<SessionsCleanup>(getSessionsCleanupToken('archive')).run();
 */
export function getSessionsCleanupToken(name?: string): InjectionToken<SessionsCleanup> {
  return name === undefined ? SessionsCleanup : `SessionsCleanup(${name})`;
}

/** How long other instances wait after a crash during a cleanup. */
const LEASE_MS = 30_000;

/** The options of the module that say when the cleanup runs. */
export interface CleanupOptions {
  /** When sessions and shared state expire. */
  readonly ttl?: Partial<TtlSettings> | undefined;
  /**
   * When a job removes expired data: a cron expression, such as one of `CronExpression` of `@nestjs/schedule`, also with a time zone;
   * `true` for every `ttl.cleanupIntervalSeconds`, `false` for never. Default `true`. It runs only if data can expire.
   */
  readonly cleanup?: CleanupTimes | undefined;
  /** When sessions and what their events say are removed, and which must not be. The job applies it. Default: none. */
  readonly retention?: RetentionSettings | undefined;
}

/**
 * The scheduled job that removes expired data: one instance at a time, in batches, if data can expire.
 *
 * @example const removed = await app.get(SessionsCleanup).run(); // now, independent of the schedule
 */
export class SessionsCleanup implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(SessionsCleanup.name);
  readonly #cleaning = new SingleFlight((stopping) => this.#clean(stopping));
  #interval: ScheduledInterval | undefined;
  #cron: ScheduledCron | undefined;

  constructor(
    private readonly sessions: SessionService,
    private readonly moduleRef: ModuleRef,
    private readonly storage: SessionStorage,
    private readonly options: CleanupOptions,
    private readonly name = '',
    private readonly retention?: SessionRetention,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.intervalMs !== undefined) this.#interval = await ScheduledInterval.find(this.moduleRef);
    if (this.cron) this.#cron = await ScheduledCron.find(this.moduleRef, this.cron);
  }

  onApplicationBootstrap(): void {
    if (this.#cleaning.isStopped) return;
    const name = this.name === '' ? CLEANUP_NAME : `${CLEANUP_NAME}:${this.name}`;
    if (this.intervalMs !== undefined) this.#interval?.start(name, this.intervalMs, () => this.run());
    this.#cron?.start(name, () => this.run());
  }

  async onModuleDestroy(): Promise<void> {
    this.#interval?.stop();
    this.#cron?.stop();
    await this.#cleaning.stop();
  }

  /**
   * Removes expired data. Returns `undefined` if another instance does so, the app is closing or the store fails.
   */
  async run(): Promise<PurgeCounts | undefined> {
    return this.#cleaning.run();
  }

  /** Interval of the job; `undefined` if it has none, nothing can expire, or the store cleans up by itself. */
  get intervalMs(): number | undefined {
    if (!this.#isNeeded) return undefined;
    // An expression takes the place of the default interval.
    const usual = this.cron ? 0 : DEFAULT_TTL.cleanupIntervalSeconds;
    const { cleanupIntervalSeconds = usual } = this.options.ttl ?? {};
    return cleanupIntervalSeconds > 0 ? cleanupIntervalSeconds * 1000 : undefined;
  }

  /** The cron expression of the job; `undefined` where there is none, or no job is needed. */
  get cron(): CronSchedule | undefined {
    const { cleanup } = this.options;
    if (!this.#isNeeded || typeof cleanup === 'boolean' || cleanup === undefined) return undefined;
    return typeof cleanup === 'string' ? { cron: cleanup } : cleanup;
  }

  get #isNeeded(): boolean {
    const { enabled = DEFAULT_TTL.enabled } = this.options.ttl ?? {};
    const expires = enabled && !this.storage.cleansUpByItself;
    return (expires || this.retention !== undefined) && this.options.cleanup !== false;
  }

  async #clean(stopping: AbortSignal): Promise<PurgeCounts | undefined> {
    const startedAt = performance.now();
    try {
      const outcome = await withLease(
        { leases: this.storage.leases, name: CLEANUP_NAME, ttlMs: LEASE_MS, onError: (error) => this.#warn(error) },
        ({ signal }) => this.#removeAll(AbortSignal.any([signal, stopping])),
      );
      if (!outcome.ran) return undefined;
      this.#report(outcome.result, performance.now() - startedAt);
      return outcome.result;
    } catch (error) {
      this.#warn(error);
      return undefined;
    }
  }

  /** What a policy says goes first, since its report is the proof of it. */
  async #removeAll(signal: AbortSignal): Promise<PurgeCounts> {
    const onError = (error: unknown): void =>
      this.#logger.error(`The retention leaves out what it cannot read: ${toErrorMessage(error)}`);
    const report = await this.retention?.apply({ signal, onError });
    const removed = { sessions: 0, events: 0 };
    for (const one of report?.rules ?? []) removed[one.kinds ? 'events' : 'sessions'] += one.removed;
    for (const [what, count] of Object.entries(removed)) {
      if (count > 0) this.#logger.log(`Removed ${count} ${what} that were kept long enough`);
    }
    return this.sessions.purgeExpired({ signal });
  }

  #report({ sessions, userStates, appStates }: PurgeCounts, milliseconds: number): void {
    if (sessions + userStates + appStates === 0) return;
    const took = `${Math.round(milliseconds)} ms`;
    this.#logger.log(
      `Removed what expired: ${sessions} sessions, ${userStates} user states, ${appStates} app states in ${took}`,
    );
  }

  #warn(error: unknown): void {
    this.#logger.warn(`The cleanup did not finish: ${toErrorMessage(error)}`);
  }
}

/** Creates the job. Fails before anything is opened if a package is missing. A test's replacement of the service may have no hooks. */
export async function cleanupOf(
  sessions: SessionService,
  moduleRef: ModuleRef,
  storage: SessionStorage,
  options: CleanupOptions,
  name = '',
): Promise<SessionsCleanup> {
  const isServed = options.retention && sessions instanceof SessionService;
  const retention = isServed ? new SessionRetention({ sessions, ...options.retention }) : undefined;
  retention?.start();
  const cleanup = new SessionsCleanup(sessions, moduleRef, storage, options, name, retention);
  if (cleanup.intervalMs !== undefined || cleanup.cron) {
    await checkSchedule('The cleanup of expired sessions (cleanup: false does without)');
  }
  if (cleanup.cron) checkCron(cleanup.cron, 'cleanup (in variables SESSIONS_CLEANUP)');
  return cleanup;
}
