import { isDeepStrictEqual } from 'node:util';
import { Task } from '@a2a-js/sdk';
import { isPlainObject, jsonCopyOf } from '../../adapter.js';

/** An object in the JSON of the protocol. */
export type Json = Readonly<Record<string, unknown>>;

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
export function jsonOf(task: Task): TaskJson {
  const { contextId, status, metadata, history, artifacts } = objectOf(jsonCopyOf(Task.toJSON(task), 'task', LIMITS));
  return {
    contextId: textOf(contextId),
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

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function objectOf(value: unknown): Json {
  return isPlainObject(value) ? value : {};
}

function objectsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

/** The parts of a message or an artifact. */
export function partsOf(item: Json | undefined): readonly Json[] {
  return objectsOf(item?.parts);
}

/** All fields but the parts. */
export function fieldsOf(item: Json): Json {
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
