import { Inject, Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { assertPause } from '../doctor/doctor.js';
import { type Diagnosis, diagnose } from '../doctor/diagnosis.js';
import { checkOptions } from '../sessions/domain/values/given-options.js';
import { findEnvironment } from '../sessions/service-environment.js';
import { SessionService } from '../sessions/session.service.js';
import { SESSION_STORAGE } from '../sessions/sessions.tokens.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';

/** Options of the checks in the background. */
export interface DoctorHealthOptions {
  /** How long the result of a check counts before the next one begins. Default: a day. */
  readonly everyMs?: number | undefined;
  /** The pause between two requests of a check to the store. Default: 50 ms. */
  readonly pauseMs?: number | undefined;
}

const A_DAY_MS = 86_400_000;
const PAUSE_MS = 50;
/** After a check that did not finish. */
const RETRY_MS = 60_000;

/**
 * A health indicator for `@nestjs/terminus` that checks the whole store in the background, slowly, and tells the result of the
 * last check. It is up until a check finds an error, since a check may take hours.
 *
 * Use it where a person looks, not as the readiness of a process: what it finds does not go away by a restart.
 *
 * @example
 * @Get('store')
 * @HealthCheck()
 * store() {
 *   return this.health.check([() => this.doctor.isHealthy('sessions-store', { everyMs: 3_600_000 })]);
 * }
 */
@Injectable()
export class SessionsDoctorHealth implements OnModuleDestroy {
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #last: { readonly diagnosis: Diagnosis; readonly at: number } | undefined;
  #failed: string | undefined;
  #nextAt = 0;

  constructor(
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(SESSION_STORAGE) private readonly storage: SessionStorage,
    /** Whose limits of state count. Default: the usual ones. */
    @Optional() @Inject(SessionService) private readonly sessions?: SessionService,
  ) {}

  /**
   * Reports `up` or `down` under `key`, with the codes of what is wrong. It never waits for a check.
   *
   * @example await health.check([() => doctorHealth.isHealthy('sessions-store')]);
   */
  async isHealthy<Key extends string>(
    key: Key,
    options: DoctorHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    checkOptions('SessionsDoctorHealth', options, { everyMs: 'count?', pauseMs: 'anything?' });
    const { everyMs = A_DAY_MS, pauseMs = PAUSE_MS } = options;
    assertPause(pauseMs);
    if (!this.#closing.signal.aborted && Date.now() >= this.#nextAt) this.#start(everyMs, pauseMs);
    const indicator = this.indicators.check(key);
    if (!this.#last) return indicator.up({ checked: false, ...(this.#failed && { message: this.#failed }) });
    const { diagnosis, at } = this.#last;
    const { sessions, events, errors, warnings, counts } = diagnosis;
    const shown = { checked: new Date(at).toISOString(), sessions, events, errors, warnings, counts };
    return diagnosis.isHealthy ? indicator.up(shown) : indicator.down(shown);
  }

  /**
   * Waits until the check in the background has ended, if one runs.
   * @example await doctorHealth.settled();
   */
  async settled(): Promise<void> {
    await this.#running;
  }

  async onModuleDestroy(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  #start(everyMs: number, pauseMs: number): void {
    this.#running ??= this.#check(pauseMs).finally(() => {
      this.#running = undefined;
      this.#nextAt = Date.now() + (this.#failed === undefined ? everyMs : Math.min(everyMs, RETRY_MS));
    });
  }

  async #check(pauseMs: number): Promise<void> {
    try {
      const { signal } = this.#closing;
      const limits = findEnvironment(this.sessions)?.limits;
      const diagnosis = await diagnose({ storage: this.storage, limits, pauseMs, signal, maxFindings: 0 });
      this.#last = { diagnosis, at: Date.now() };
      this.#failed = undefined;
    } catch {
      // Whether the store can be reached is told by SessionsHealth.
      this.#failed = 'The last check did not finish.';
    }
  }
}
