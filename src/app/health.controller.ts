import { Controller, Get, Inject, UseFilters } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { HealthCheck, type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import { type AppConfig, appConfig } from '../config/app.config.js';
import { SessionsHealth } from '../health/index.js';

const LIVE = {
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string', enum: ['ok'] } },
  example: { status: 'ok' },
};

/** For whoever restarts the app, and for whoever sends it requests. What fails is answered as @nestjs/terminus answers it. */
@Controller('health')
@SkipThrottle()
@UseFilters(BaseExceptionFilter)
export class HealthController {
  constructor(
    private readonly checks: HealthCheckService,
    private readonly sessions: SessionsHealth,
    @Inject(appConfig.KEY) private readonly config: AppConfig,
  ) {}

  /** The process answers. Restarting it would mend no store, so none is asked. */
  @Get('live')
  @ApiOperation({ operationId: 'live', summary: 'Whether the process answers; no store is asked' })
  @ApiOkResponse({ description: 'It does.', schema: LIVE })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Sessions can be read and written. */
  @Get('ready')
  @HealthCheck()
  @ApiOperation({ operationId: 'ready', summary: 'Whether sessions can be read and written' })
  ready(): Promise<HealthCheckResult> {
    return this.#check();
  }

  @Get()
  @HealthCheck()
  @ApiOperation({ operationId: 'health', summary: 'The same as `/health/ready`' })
  health(): Promise<HealthCheckResult> {
    return this.#check();
  }

  #check(): Promise<HealthCheckResult> {
    const { healthTimeLimitMs: timeLimitMs } = this.config;
    return this.checks.check([() => this.sessions.isHealthy('sessions', { timeLimitMs })]);
  }
}
