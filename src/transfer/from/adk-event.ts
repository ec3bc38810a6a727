import type { ForeignEvent } from '../foreign-log.js';
import { parseForeignObject, parseForeignTime } from './foreign-database.js';

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
  'content.parts.toolCall.args',
  'content.parts.toolResponse.response',
  'content.parts.partMetadata',
  'output',
  'route',
]);

/** Python writes bytes in the alphabet of URLs, which browsers and most models refuse in a file. */
const BYTES = new Set([
  'content.parts.inlineData.data',
  'content.parts.thoughtSignature',
  'content.parts.functionResponse.parts.inlineData.data',
]);

/**
 * An event with names like `state_delta`, as Python and databases of ADK have them. Python may write every field that is not set
 * as `null`: here it is missing.
 */
export function eventOfSnakeCase(given: Readonly<Record<string, unknown>>): ForeignEvent {
  const { actions, timestamp, ...event } = camelCased(given, '') as Record<string, unknown>;
  // A compaction of ADK covers a range of times, and several are shown together: it is no summary as there are here.
  const { compaction, rewindBeforeInvocationId, ...others } = parseForeignObject(actions);
  const rewindBefore = typeof rewindBeforeInvocationId === 'string' ? rewindBeforeInvocationId : undefined;
  const kept: object = {
    ...others,
    ...(compaction === undefined ? {} : { adkCompaction: compaction }),
    ...(rewindBefore !== undefined && { rewindBeforeInvocationId: rewindBefore }),
  };
  return { ...event, timestamp: parseForeignTime(timestamp), actions: kept, rewindBefore };
}

function camelCased(value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => camelCased(item, path));
  if (typeof value === 'string') return BYTES.has(path) ? value.replaceAll('-', '+').replaceAll('_', '/') : value;
  // Drivers make dates of times.
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const fields = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return Object.fromEntries(
    fields.map(([key, inner]) => {
      const name = camelCasedName(key);
      const innerPath = path ? `${path}.${name}` : name;
      return [name, KEPT.has(innerPath) ? (inner as unknown) : camelCased(inner, innerPath)];
    }),
  );
}

/** The name as JavaScript writes it. */
export function camelCasedName(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
