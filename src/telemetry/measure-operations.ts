import { checkOptions } from '../sessions/domain/values/given-options.js';
import { TRACED_OPERATIONS, type TracedOperation, channelOf } from '../sessions/tracing/operation-channels.js';

/** Boundaries of histograms of how long operations took, in seconds. */
export const OPERATION_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Receives each operation when it is over, and how long it took. */
export type MeasuredOperationHandler = (operation: TracedOperation, seconds: number) => void;

/** How operations are measured. */
export interface MeasureOptions {
  /** The time in milliseconds, for tests. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Measures all operations of this process, for metrics of any kind. Returns a function that ends it.
 *
 * @example
 * const stop = measureOperations(({ operation, errorCode = 'ok' }, seconds) => {
 *   histogram.labels(operation, errorCode).observe(seconds); // prom-client
 * });
 */
export function measureOperations(onMeasured: MeasuredOperationHandler, options: MeasureOptions = {}): () => void {
  checkOptions('measureOperations', options, { now: 'function?' });
  const { now = () => performance.now() } = options;
  const begun = new WeakMap<object, number>();
  const begin = (operation: unknown): void => void begun.set(operation as object, now());
  const end = (operation: unknown): void => {
    const at = begun.get(operation as object);
    // Without a beginning, it began before this did.
    if (at !== undefined) onMeasured(operation as TracedOperation, (now() - at) / 1000);
  };
  for (const name of TRACED_OPERATIONS) {
    channelOf(name).start.subscribe(begin);
    channelOf(name).asyncEnd.subscribe(end);
  }
  return () => {
    for (const name of TRACED_OPERATIONS) {
      channelOf(name).start.unsubscribe(begin);
      channelOf(name).asyncEnd.unsubscribe(end);
    }
  };
}
