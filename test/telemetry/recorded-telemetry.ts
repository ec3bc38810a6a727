import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  type MetricData,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { type TelemetryOptions, startTelemetry } from '../../src/telemetry/index.js';

/** Far away: tests flush. */
const NEVER_MS = 2 ** 31 - 1;

/** What the SDK got of sessions, read back from its exporters in memory. */
export class RecordedTelemetry {
  readonly #spans = new InMemorySpanExporter();
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#spans)] });
  readonly meterProvider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: this.#metrics, exportIntervalMillis: NEVER_MS })],
  });
  readonly #stop: () => void;

  constructor(options: TelemetryOptions = {}) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const { tracerProvider, meterProvider } = this;
    this.#stop = startTelemetry({ tracerProvider, meterProvider, optIn: '', ...options });
  }

  /** The spans that ended, oldest first. */
  get spans(): readonly ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  /** The only span of a name. */
  span(name: string): ReadableSpan {
    const [span, ...others] = this.spans.filter((candidate) => candidate.name === name);
    if (!span || others.length > 0) throw new Error(`There are ${others.length + Number(Boolean(span))} spans ${name}`);
    return span;
  }

  async metrics(): Promise<readonly MetricData[]> {
    this.#metrics.reset();
    await this.meterProvider.forceFlush();
    return this.#metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
  }

  async close(): Promise<void> {
    this.#stop();
    context.disable();
    await this.tracerProvider.shutdown();
    await this.meterProvider.shutdown();
  }
}
