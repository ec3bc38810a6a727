import { type DynamicModule, Inject, Module, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { oncePerApp } from '../config/once-per-app.js';
import { type TelemetryOptions, startTelemetry } from './telemetry.js';

const OPTIONS = Symbol('TelemetryOptions');

/**
 * Records spans and metrics of sessions as long as the app runs. Import it once.
 *
 * @example
 * @Module({ imports: [SessionsModule.forRoot(), SessionsTelemetryModule.forRoot()] })
 * export class AppModule {}
 */
@Module({
  providers: [
    oncePerApp(() => SessionsTelemetryModule, 'it records all sessions, so that two would count each twice.'),
  ],
})
export class SessionsTelemetryModule implements OnModuleInit, OnModuleDestroy {
  #stop: (() => void) | undefined;

  constructor(@Inject(OPTIONS) private readonly options: TelemetryOptions) {}

  static forRoot(options: TelemetryOptions = {}): DynamicModule {
    return { module: SessionsTelemetryModule, providers: [{ provide: OPTIONS, useValue: options }] };
  }

  onModuleInit(): void {
    this.#stop = startTelemetry(this.options);
  }

  onModuleDestroy(): void {
    this.#stop?.();
  }
}
