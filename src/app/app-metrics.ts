import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { OPERATION_SECONDS, measureOperations } from '../telemetry/measure-operations.js';

/** The metrics of this process and of what it does with sessions, for Prometheus. Ids are no labels. */
export class AppMetrics {
  readonly #registry = new Registry();
  readonly #stop: () => void;

  constructor(store: string) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    const operations = new Counter({
      name: 'agent_sessions_operations_total',
      help: 'Operations on sessions, by the code of their error, or ok.',
      labelNames: ['operation', 'code', 'store'],
      registers,
    });
    const durations = new Histogram({
      name: 'agent_sessions_operation_duration_seconds',
      help: 'How long operations on sessions took.',
      labelNames: ['operation', 'store'],
      buckets: OPERATION_SECONDS,
      registers,
    });
    const events = new Counter({
      name: 'agent_sessions_events_stored_total',
      help: 'Events that appends stored.',
      labelNames: ['store'],
      registers,
    });
    this.#stop = measureOperations(({ operation, storedEvents = 0, errorCode = 'ok' }, seconds) => {
      operations.inc({ operation, code: errorCode, store });
      durations.observe({ operation, store }, seconds);
      events.inc({ store }, storedEvents);
    });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics as Prometheus reads them. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  stop(): void {
    this.#stop();
  }
}
