import { isDeepStrictEqual } from 'node:util';
import { Task } from '@a2a-js/sdk';
import { isPlainObject, jsonCopyOf } from '../../adapter.js';
import { type Json, toJsonRecord, toTextOrEmpty } from '../shared/given-json.js';

/** A task in the JSON of the protocol, without its id. */
export interface TaskJson {
  readonly contextId: string;
  readonly status: Json | undefined;
  readonly metadata: Json | undefined;
  readonly history: readonly Json[];
  readonly artifacts: readonly Json[];
}

/** Each event has a limit of its own; this one keeps a copy from being unlimited. */
const LIMITS = { maxDepth: 100, maxBytes: 256 * 1_024 * 1_024 };

/** Refuses what is not JSON. */
export function toTaskJson(task: Task): TaskJson {
  const { contextId, status, metadata, history, artifacts } = toJsonRecord(
    jsonCopyOf(Task.toJSON(task), 'task', LIMITS),
  );
  return {
    contextId: toTextOrEmpty(contextId),
    status: isPlainObject(status) ? status : undefined,
    metadata: isPlainObject(metadata) ? metadata : undefined,
    history: objectsOf(history),
    artifacts: objectsOf(artifacts),
  };
}

/** A task that shares nothing with the JSON. */
export function taskOf(id: string, task: TaskJson): Task {
  return Task.fromJSON(structuredClone({ id, ...task }));
}

/** Whether two values are the same JSON, whatever the order of their keys. */
export function isSame(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(a, b);
}

function objectsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(toJsonRecord) : [];
}

/** The parts of a message or an artifact. */
export function listItemParts(item: Json | undefined): readonly Json[] {
  return objectsOf(item?.parts);
}

/** All fields but the parts. */
export function omitItemParts(item: Json): Json {
  const { parts: _parts, ...fields } = item;
  return fields;
}

const TERMINAL: ReadonlySet<unknown> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);

/** Whether nothing can follow this status. */
export function isTerminal(status: Json | undefined): boolean {
  return TERMINAL.has(status?.state);
}
