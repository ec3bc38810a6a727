import * as registry from '@opentelemetry/semantic-conventions/incubating';
import {
  ATTRIBUTES,
  LATEST_METRICS,
  OPERATION_NAMES,
  OWN_ATTRIBUTES,
  OWN_METRICS,
} from '../../src/telemetry/conventions.js';

/** What OpenTelemetry publishes for JavaScript, by the kind of name. */
function published(kind: string): ReadonlySet<unknown> {
  return new Set(Object.entries(registry).flatMap(([name, value]) => (name.startsWith(kind) ? [value] : [])));
}

describe('the names of telemetry', () => {
  const attributes = published('ATTR_');
  const metrics = published('METRIC_');
  const values = published('GEN_AI_OPERATION_NAME_VALUE_');

  it.each(Object.values(ATTRIBUTES))('has the attribute %s from the published conventions', (name) => {
    expect(attributes).toContain(name);
  });

  it.each(Object.values(OPERATION_NAMES))('has the operation %s from the published conventions', (name) => {
    expect(values).toContain(name);
  });

  // Published as documents only, in the repository of the GenAI conventions. Once the package has it, it moves to the names above.
  it.each(Object.values(LATEST_METRICS))('has the metric %s, which the package does not have yet', (name) => {
    expect(metrics).not.toContain(name);
  });

  it('has own names in a namespace of its own, where the conventions have none', () => {
    const own = [...Object.values(OWN_ATTRIBUTES), ...Object.values(OWN_METRICS)];
    for (const name of own) expect(name).toMatch(/^agent_sessions\.[a-z_.]+$/);
    expect(own.filter((name) => attributes.has(name) || metrics.has(name))).toEqual([]);
  });
});
