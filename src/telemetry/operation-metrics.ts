import type { Attributes, Meter } from '@opentelemetry/api';
import type { TracedOperation } from '../sessions/tracing/operation-channels.js';
import { ATTRIBUTES, LATEST_METRICS, OWN_ATTRIBUTES, OWN_METRICS } from './conventions.js';
import { type MeasuredOperationHandler, OPERATION_SECONDS } from './measure-operations.js';

/** In seconds. */
const AGENT_BOUNDARIES = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];

/** Records operations. Ids are never attributes of metrics: each would be a series of its own. */
export function operationMetrics(meter: Meter, hasLatest: boolean): MeasuredOperationHandler {
  const duration = meter.createHistogram(OWN_METRICS.duration, {
    description: 'How long operations on sessions took.',
    unit: 's',
    advice: { explicitBucketBoundaries: OPERATION_SECONDS },
  });
  const storedEvents = meter.createCounter(OWN_METRICS.storedEvents, {
    description: 'Events that appends stored.',
    unit: '{event}',
  });
  const agentDuration = hasLatest
    ? meter.createHistogram(LATEST_METRICS.agentDuration, {
        description: 'How long runs of agents took.',
        unit: 's',
        advice: { explicitBucketBoundaries: AGENT_BOUNDARIES },
      })
    : undefined;
  return (operation, seconds) => {
    duration.record(seconds, { [OWN_ATTRIBUTES.operation]: operation.operation, ...toErrorAttributes(operation) });
    if (operation.storedEvents !== undefined) storedEvents.add(operation.storedEvents);
    if (operation.operation !== 'run') return;
    agentDuration?.record(seconds, { ...agentOf(operation), ...toErrorAttributes(operation) });
  };
}

function toErrorAttributes({ errorCode }: TracedOperation): Attributes {
  return errorCode === undefined ? {} : { [ATTRIBUTES.errorType]: errorCode };
}

function agentOf({ agentName }: TracedOperation): Attributes {
  return agentName === undefined ? {} : { [ATTRIBUTES.agentName]: agentName };
}
