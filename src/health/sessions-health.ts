import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { DESTROYED_AT_ONCE, SESSION_STORAGE } from '../sessions/sessions.tokens.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import { SessionsError } from '../sessions/domain/errors/errors.js';
import { checkOptions } from '../sessions/domain/values/given-options.js';
import { newStamp } from '../sessions/domain/values/stamp.js';

/** Options of a check. */
export interface SessionsHealthOptions {
  /** The time limit of each probe. Default: 2,000 ms. */
  readonly timeLimitMs?: number | undefined;
}

const DEFAULT_TIME_LIMIT_MS = 2_000;

/**
 * A health indicator for `@nestjs/terminus`. It probes a read and a write with a time limit, and leaves no data behind. It
 * reports down when the app begins to close.
 *
 * @example
 * @Module({ imports: [TerminusModule, SessionsModule.forRoot({ provider: 'memory' })], providers: [SessionsHealth],
 * controllers: [HealthController] })
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
  /** Requests go elsewhere while agents finish. */
  readonly [DESTROYED_AT_ONCE] = true;
  readonly #logger = new Logger(SessionsHealth.name);
  readonly #read: TimedProbe;
  readonly #write: TimedProbe;
  readonly #ask: TimedProbe;
  /** What the store last said about its servers. */
  #warnings: readonly string[] = [];
  #isClosing = false;
  #wasUp = true;

  constructor(
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(SESSION_STORAGE) storage: SessionStorage,
  ) {
    const { read, write } = probesOf(storage);
    this.#read = new TimedProbe(read);
    this.#write = new TimedProbe(write);
    this.#ask = new TimedProbe(async () => {
      this.#warnings = (await storage.warnings?.()) ?? [];
    });
  }

  /**
   * Reports `up` or `down` under `key`, with what failed and why, and with `warnings` of the store, which leave it up. It resolves within the time limit and exposes no secrets.
   *
   * @example await health.check([() => sessionsHealth.isHealthy('sessions')]);
   */
  async isHealthy<Key extends string>(
    key: Key,
    options: SessionsHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    checkOptions('SessionsHealth', options, { timeLimitMs: 'timer?' });
    const { timeLimitMs = DEFAULT_TIME_LIMIT_MS } = options;
    const indicator = this.indicators.check(key);
    if (this.#isClosing) return indicator.down({ message: 'The app is closing.' });
    const [read, write] = await Promise.all([
      this.#read.run(timeLimitMs),
      this.#write.run(timeLimitMs),
      this.#ask.run(timeLimitMs),
    ]);
    this.#tellChange({ read, write });
    const [...warnings] = this.#warnings;
    const words = { read: wordFor(read), write: wordFor(write), ...(warnings.length > 0 && { warnings }) };
    if (read.isUp && write.isUp) return indicator.up(words);
    const { problem, code } = read.isUp ? write : read;
    return indicator.down({ ...words, message: problem, code });
  }

  /**
   * Reports down from now on, so that load balancers stop sending requests before the app closes.
   * @example process.once('SIGTERM', () => sessionsHealth.beginClosing());
   */
  beginClosing(): void {
    this.#isClosing = true;
  }

  onModuleDestroy(): void {
    this.beginClosing();
  }

  /** Logs changes only: probes come every few seconds. */
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

/** No app has this name, so the lookup is cheap and finds nothing. */
const UNUSED_APP = { appName: 'nestjs-agent-sessions:health' };

/** An entry that could not be removed expires then. */
const ENTRY_MS = 10_000;

/** The probes of a store. */
export type ProbeName = 'read' | 'write';

export type StoreProbes = Readonly<Record<ProbeName, () => Promise<void>>>;

/**
 * Probes that leave no data behind. The write is an entry with a unique name, removed immediately. Sessions, lists and shared
 * state do not see it.
 */
export function probesOf(storage: SessionStorage): StoreProbes {
  return {
    async read() {
      await storage.readState(UNUSED_APP);
    },
    async write() {
      const place = { space: 'health', name: randomUUID() };
      const stamp = newStamp();
      const next = { stamp, rank: 0, since: { inMs: 0 }, text: `${hostname()}:${process.pid}`, ttlMs: ENTRY_MS };
      await storage.entries.write([{ ...place, expected: undefined, next }]);
      await storage.entries.write([{ ...place, expected: stamp, next: undefined }]);
    },
  };
}

/** The result of a probe. `problem` is safe to expose. */
export interface ProbeResult {
  readonly isUp: boolean;
  readonly problem?: string | undefined;
  readonly code?: string | undefined;
  /** For the log. */
  readonly error?: unknown;
}

/** A probe with a time limit. Concurrent callers share one run, so that probes do not pile up at a store that hangs. */
export class TimedProbe {
  #running: Promise<ProbeResult> | undefined;

  constructor(private readonly probe: () => Promise<void>) {}

  run(timeLimitMs: number): Promise<ProbeResult> {
    this.#running ??= this.#ask(timeLimitMs).finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #ask(timeLimitMs: number): Promise<ProbeResult> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<ProbeResult>((resolve) => {
      const problem = `There was no answer within ${timeLimitMs} ms.`;
      timer = setTimeout(() => resolve({ isUp: false, problem, code: 'STORE_UNAVAILABLE' }), timeLimitMs);
    });
    try {
      return await Promise.race([this.#result(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #result(): Promise<ProbeResult> {
    try {
      await this.probe();
      return { isUp: true };
    } catch (error) {
      return { isUp: false, error, ...toldOf(error) };
    }
  }
}

/** Errors of this package have a public message. Other errors may contain secrets. */
function toldOf(error: unknown): Pick<ProbeResult, 'problem' | 'code'> {
  if (error instanceof SessionsError) return { problem: error.publicMessage, code: error.code };
  return { problem: 'It failed; the log says why.', code: 'INTERNAL' };
}
