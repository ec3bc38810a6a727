import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { SESSION_STORAGE } from '../sessions/module/sessions.tokens.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { type ProbeName, probesOf } from './store-probes.js';
import { type ProbeResult, TimedProbe } from './timed-probe.js';

/** How patient a check is. */
export interface SessionsHealthOptions {
  /** How long the store may take for each of its two answers; 2,000 ms unless given. */
  readonly timeLimitMs?: number | undefined;
}

const DEFAULT_TIME_LIMIT_MS = 2_000;

/**
 * Tells `@nestjs/terminus` whether sessions can be read and written: both are tried, each within a time limit, and nothing is left
 * behind. Once the app begins to close, they cannot.
 *
 * @example
 * @Module({ imports: [TerminusModule, SessionsModule.forRoot({ provider: 'memory' })], providers: [SessionsHealth], controllers: [HealthController] })
 * export class AppModule {}
 *
 * @example
 * @Controller('health')
 * export class HealthController {
 *   constructor(private readonly health: HealthCheckService, private readonly sessions: SessionsHealth) {}
 *
 *   @Get('ready')
 *   @HealthCheck()
 *   ready() {
 *     return this.health.check([() => this.sessions.isHealthy('sessions', { timeLimitMs: 1_000 })]);
 *   }
 * }
 */
@Injectable()
export class SessionsHealth implements OnModuleDestroy {
  readonly #logger = new Logger(SessionsHealth.name);
  readonly #read: TimedProbe;
  readonly #write: TimedProbe;
  #isClosing = false;
  #wasUp = true;

  constructor(
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(SESSION_STORAGE) storage: SessionStorage,
  ) {
    const { read, write } = probesOf(storage);
    this.#read = new TimedProbe(read);
    this.#write = new TimedProbe(write);
  }

  /**
   * What the store answers, under `key`: `up`, or `down` with what failed and why. Never later than the time limit, and without
   * anything that is secret.
   *
   * @example await health.check([() => sessionsHealth.isHealthy('sessions')]);
   */
  async isHealthy<Key extends string>(
    key: Key,
    { timeLimitMs = DEFAULT_TIME_LIMIT_MS }: SessionsHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const indicator = this.indicators.check(key);
    if (this.#isClosing) return indicator.down({ message: 'The app is closing.' });
    const [read, write] = await Promise.all([this.#read.run(timeLimitMs), this.#write.run(timeLimitMs)]);
    this.#tellChange({ read, write });
    const words = { read: wordFor(read), write: wordFor(write) };
    if (read.isUp && write.isUp) return indicator.up(words);
    const { problem, code } = read.isUp ? write : read;
    return indicator.down({ ...words, message: problem, code });
  }

  /**
   * Not healthy from now on, for an app that lets load balancers know before it stops to accept requests.
   * @example process.once('SIGTERM', () => sessionsHealth.beginClosing());
   */
  beginClosing(): void {
    this.#isClosing = true;
  }

  onModuleDestroy(): void {
    this.beginClosing();
  }

  /** Probes come every few seconds: the log gets what changed. */
  #tellChange(results: Readonly<Record<ProbeName, ProbeResult>>): void {
    const failed = Object.entries(results).filter(([, { isUp }]) => !isUp);
    const isUp = failed.length === 0;
    if (isUp === this.#wasUp) return;
    this.#wasUp = isUp;
    if (isUp) this.#logger.log('The store of the sessions answers again.');
    for (const [name, { problem, error }] of failed) {
      const stack = error instanceof Error ? error.stack : undefined;
      this.#logger.error(`The store of the sessions does not ${name}: ${problem}`, stack);
    }
  }
}

function wordFor({ isUp }: ProbeResult): 'up' | 'down' {
  return isUp ? 'up' : 'down';
}
