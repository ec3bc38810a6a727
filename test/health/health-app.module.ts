import { Controller, Get, type INestApplication, type LoggerService, Module } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { SessionsHealth } from '../../src/health/index.js';
import { type SessionStorage, SessionsModule } from '../../src/index.js';

export const TIME_LIMIT_MS = 200;

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly sessions: SessionsHealth,
  ) {}

  @Get()
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.sessions.isHealthy('sessions', { timeLimitMs: TIME_LIMIT_MS })]);
  }
}

/** An app as its users write it, over this storage. */
export async function startHealthApp(storage: SessionStorage, logger?: LoggerService): Promise<INestApplication> {
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
