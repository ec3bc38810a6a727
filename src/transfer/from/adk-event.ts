import type { ForeignEvent } from './foreign-log.js';
import { recordOf, timeOf } from './foreign-database.js';

/** Below these paths, keys belong to apps and stay as they are. */
const KEPT = new Set([
  'actions.stateDelta',
  'actions.artifactDelta',
  'actions.requestedAuthConfigs',
  'actions.requestedToolConfirmations',
  'actions.customMetadata',
  'actions.agentState',
  'customMetadata',
  'content.parts.functionCall.args',
  'content.parts.functionResponse.response',
  'output',
  'route',
]);

/** An event with names like `state_delta`, as Python and databases of ADK have them. */
export function eventOfSnakeCase(given: Readonly<Record<string, unknown>>): ForeignEvent {
  const { actions, timestamp, ...event } = camelCased(given, '') as Record<string, unknown>;
  // A compaction of ADK covers a range of times, and several are shown together: it is no summary as there are here.
  const { compaction, rewindBeforeInvocationId, ...others } = recordOf(actions);
  const hasCompaction = compaction !== undefined && compaction !== null;
  return {
    ...withoutNulls(event),
    timestamp: timeOf(timestamp),
    actions: {
      ...withoutNulls(others),
      ...(hasCompaction ? { adkCompaction: compaction } : {}),
      ...(typeof rewindBeforeInvocationId === 'string' && { rewindBeforeInvocationId }),
    },
    rewindBefore: typeof rewindBeforeInvocationId === 'string' ? rewindBeforeInvocationId : undefined,
  };
}

function withoutNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function camelCased(value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => camelCased(item, path));
  // Drivers make dates of times.
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = key.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
      const innerPath = path ? `${path}.${name}` : name;
      return [name, KEPT.has(innerPath) ? (inner as unknown) : camelCased(inner, innerPath)];
    }),
  );
}
