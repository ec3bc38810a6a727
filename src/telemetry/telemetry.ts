import { type MeterProvider, type TracerProvider, metrics, trace } from '@opentelemetry/api';
import { ConfigurationError } from '../config/configuration-error.js';
import { plainName } from '../config/near-miss.js';
import { checkOptions } from '../sessions/domain/values/given-options.js';
import { LATEST_CONVENTIONS } from './conventions.js';
import { measureOperations } from './measure-operations.js';
import { operationMetrics } from './operation-metrics.js';
import { OperationSpans } from './operation-spans.js';

const NAME = 'nestjs-agent-sessions';

/** What is recorded of sessions, and where. */
export interface TelemetryOptions {
  /** Default: the one that the app has registered, such as by the SDK for Node. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Default: the one that the app has registered. */
  readonly meterProvider?: MeterProvider | undefined;
  /** Whether spans have the id of the user as `user.id`. Default: `false`. */
  readonly userIds?: boolean | undefined;
  /** Conventions to use, separated by commas. Default: the variable `OTEL_SEMCONV_STABILITY_OPT_IN`. */
  readonly optIn?: string | undefined;
  /** The time in milliseconds of metrics, for tests. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Records spans and metrics of all sessions of this process, agents and summaries included, but no content. Returns a function
 * that ends it. Call it once the SDK of OpenTelemetry has started.
 *
 * @example
 * sdk.start(); // of @opentelemetry/sdk-node
 * const stop = startTelemetry();
 */
export function startTelemetry(options: TelemetryOptions = {}): () => void {
  checkOptions('Telemetry', options, {
    tracerProvider: 'object?',
    meterProvider: 'object?',
    userIds: 'flag?',
    optIn: 'text?',
    now: 'function?',
  });
  const { tracerProvider = trace, meterProvider = metrics, userIds = false, now } = options;
  const problems = [
    ...(typeof tracerProvider.getTracer === 'function' ? [] : ['tracerProvider has no getTracer()']),
    ...(typeof meterProvider.getMeter === 'function' ? [] : ['meterProvider has no getMeter()']),
  ].map((problem) => `${problem}; give what the SDK made, or none`);
  const wrong = splitOptIn(options.optIn).find(isMisspelled);
  if (wrong !== undefined) problems.push(`optIn has ${JSON.stringify(wrong)}; it knows ${LATEST_CONVENTIONS}`);
  if (problems.length > 0) throw new ConfigurationError(problems.map((problem) => `Telemetry: ${problem}.`));
  const hasLatest = splitOptIn(options.optIn ?? process.env.OTEL_SEMCONV_STABILITY_OPT_IN).includes(LATEST_CONVENTIONS);
  const spans = new OperationSpans({ tracer: tracerProvider.getTracer(NAME), userIds });
  const stopMeasuring = measureOperations(operationMetrics(meterProvider.getMeter(NAME), hasLatest), { now });
  spans.start();
  return () => {
    spans.stop();
    stopMeasuring();
  };
}

function splitOptIn(optIn = ''): string[] {
  return optIn.split(',').map((value) => value.trim());
}

/** Values of other conventions, such as `http`, are for other packages. */
function isMisspelled(value: string): boolean {
  return plainName(value).startsWith('genai') && value !== LATEST_CONVENTIONS;
}
