import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { measureOperations } from '../telemetry/measure-operations.js';

/** In seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

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
      buckets: BUCKETS,
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
