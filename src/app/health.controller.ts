import { Controller, Get, UseFilters } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { HealthCheck, type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { SessionsHealth } from '../health/index.js';

const LIVE = {
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string', enum: ['ok'] } },
  example: { status: 'ok' },
};

/** Liveness and readiness probes. Failures have the format of @nestjs/terminus. */
@Controller('health')
@UseFilters(BaseExceptionFilter)
export class HealthController {
  constructor(
    private readonly checks: HealthCheckService,
    private readonly sessions: SessionsHealth,
  ) {}

  /** Liveness. It does not check the store, because a restart would not repair it. */
  @Get('live')
  @ApiOperation({ operationId: 'live', summary: 'Whether the process answers; no store is asked' })
  @ApiOkResponse({ description: 'It does.', schema: LIVE })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Readiness: sessions can be read and written. */
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
    return this.checks.check([() => this.sessions.isHealthy('sessions')]);
  }
}
