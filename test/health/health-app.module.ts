import { Controller, Get, type INestApplication, type LoggerService, Module } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { SessionsHealth } from '../../src/health/index.js';
import { SessionsModule } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';

interface HealthAppOptions {
  /** Long by default, so that a working store responds in time even on a busy machine. */
  readonly timeLimitMs?: number;
  readonly logger?: LoggerService;
}

/** A user's app with this storage. */
export async function startHealthApp(
  storage: SessionStorage,
  { timeLimitMs = 60_000, logger }: HealthAppOptions = {},
): Promise<INestApplication> {
  @Controller('health')
  class HealthController {
    constructor(
      private readonly health: HealthCheckService,
      private readonly sessions: SessionsHealth,
    ) {}

    @Get()
    @HealthCheck()
    ready(): Promise<HealthCheckResult> {
      return this.health.check([() => this.sessions.isHealthy('sessions', { timeLimitMs })]);
    }
  }

  @Module({
    imports: [TerminusModule.forRoot({ logger: false }), SessionsModule.forRoot({ storage })],
    providers: [SessionsHealth],
    controllers: [HealthController],
  })
  class HealthAppModule {}
  const module = await Test.createTestingModule({ imports: [HealthAppModule] }).compile();
  const app = module.createNestApplication({ logger: logger ?? false, forceCloseConnections: true });
  await app.listen(0, '127.0.0.1');
  return app;
}

export async function healthOf(app: INestApplication): Promise<{ status: number; body: unknown; text: string }> {
  const response = await fetch(`${await app.getUrl()}/health`);
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text), text };
}
