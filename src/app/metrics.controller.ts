import {
  Controller,
  Get,
  Inject,
  NotFoundException,
  type OnModuleDestroy,
  type OnModuleInit,
  Res,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type AppConfig, appConfig, sessionsOfApp } from '../config/app.config.js';
import type { SessionsConfig } from '../config/index.js';
import type { AppMetrics } from './app-metrics.js';

interface Response {
  setHeader(name: string, value: string): unknown;
}

/** Metrics for Prometheus, if the app wants them. */
@Controller('metrics')
@ApiExcludeController()
export class MetricsController implements OnModuleInit, OnModuleDestroy {
  #metrics: AppMetrics | undefined;

  constructor(
    @Inject(appConfig.KEY) private readonly config: AppConfig,
    @Inject(sessionsOfApp.KEY) private readonly sessions: SessionsConfig,
  ) {}

  async onModuleInit(): Promise<void> {
    if (!this.config.hasMetrics) return;
    // Loads files that most starts do not need.
    const { AppMetrics: Metrics } = await import('./app-metrics.js');
    this.#metrics = new Metrics(this.sessions.provider);
  }

  onModuleDestroy(): void {
    this.#metrics?.stop();
  }

  @Get()
  async metrics(@Res({ passthrough: true }) response: Response): Promise<string> {
    if (!this.#metrics) throw new NotFoundException('There are no metrics; METRICS=true turns them on');
    response.setHeader('Content-Type', this.#metrics.contentType);
    return this.#metrics.text();
  }
}
