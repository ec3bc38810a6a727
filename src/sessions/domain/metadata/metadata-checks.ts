import type { WriteLimits } from '../../../config/session-settings.js';
import { InvalidInputError, LimitExceededError } from '../errors/errors.js';
import { nameProblem } from '../values/ids.js';
import { childPath, isPlainObject, jsonCopyOf } from '../values/json-value.js';
import { metadataAfter } from './metadata-entries.js';
import { MAX_TITLE_CHARACTERS, metadataLimitText } from './metadata-limits.js';
import { type MetadataDelta, metadataChanges } from './metadata.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * Validates and normalises changes of metadata. The result shares no object with the input, and is `undefined` if it
 * changes nothing.
 */
export function submittedMetadataDelta(input: unknown, path: string, limits: WriteLimits): MetadataDelta | undefined {
  const given = metadataInput(input, path, limits, ['title', 'status', 'tags', 'labels', 'fields', 'fieldRemovals']);
  if (!given) return undefined;
  const tags = objectAt(given, 'tags', path);
  assertKnown(tags, ['add', 'remove'], childPath(path, 'tags'));
  const delta = {
    ...ifThere('title', given.title === null ? null : titleAt(given, path)),
    ...ifThere('status', given.status === null ? null : statusAt(given, path)),
    ...ifAny('tags', {
      ...ifAny('add', namesAt(tags, 'add', childPath(path, 'tags'))),
      ...ifAny('remove', namesAt(tags, 'remove', childPath(path, 'tags'))),
    }),
    ...ifAny('labels', labelsAt(given, path, true)),
    ...ifAny('fields', fieldsAt(given, path)),
    ...ifAny('fieldRemovals', namesAt(given, 'fieldRemovals', path)),
  };
  return checkedDelta(delta, path, limits);
}

/** The same for the metadata of a session to create: all of it is set. */
export function submittedMetadata(input: unknown, path: string, limits: WriteLimits): MetadataDelta | undefined {
  const given = metadataInput(input, path, limits, ['title', 'status', 'tags', 'labels', 'fields']);
  if (!given) return undefined;
  const add = namesAt(given, 'tags', path);
  const delta = {
    ...ifThere('title', titleAt(given, path)),
    ...ifThere('status', statusAt(given, path)),
    ...(add.length > 0 && { tags: { add } }),
    ...ifAny('labels', labelsAt(given, path, false)),
    ...ifAny('fields', fieldsAt(given, path)),
  };
  return checkedDelta(delta, path, limits);
}

function checkedDelta(delta: MetadataDelta, path: string, { maxDeltaKeys }: WriteLimits): MetadataDelta | undefined {
  const changes = metadataChanges(delta);
  const seen = new Set<string>();
  for (const [name] of changes) {
    if (seen.has(name)) throw new InvalidInputError('is both set and removed', childPath(path, name));
    seen.add(name);
  }
  if (changes.length > maxDeltaKeys) {
    throw new LimitExceededError(`must change at most ${maxDeltaKeys} entries, not ${changes.length}`, path);
  }
  // What is too much for a session without metadata is so for any session.
  if (metadataAfter('', changes) === undefined) throw new LimitExceededError(metadataLimitText(), path);
  return changes.length > 0 ? delta : undefined;
}

/** A copy with no other names, so that the input is read once. Its own values begin two levels down. */
export function metadataInput(
  input: unknown,
  path: string,
  limits: WriteLimits,
  names: readonly string[],
): Json | undefined {
  if (input === undefined || input === null) return undefined;
  const copy = jsonCopyOf(input, path, { maxDepth: limits.maxDepth + 2, maxBytes: limits.maxEventBytes });
  if (!isPlainObject(copy)) throw new InvalidInputError('must be a plain object', path);
  assertKnown(copy, names, path);
  return copy;
}

function objectAt(parent: Json, name: string, path: string): Json {
  const value = parent[name] ?? {};
  if (!isPlainObject(value)) throw new InvalidInputError('must be a plain object', childPath(path, name));
  return value;
}

/** A misspelt name would be lost silently. */
function assertKnown(given: Json, names: readonly string[], path: string): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new InvalidInputError(`is no field of metadata; there are ${names.join(', ')}`, childPath(path, unknown));
}

function titleAt({ title }: Json, path: string): string | undefined {
  if (title === undefined || title === null) return undefined;
  if (typeof title !== 'string' || title === '') {
    throw new InvalidInputError('must be a text that is not empty', childPath(path, 'title'));
  }
  if ([...title].length > MAX_TITLE_CHARACTERS) {
    throw new LimitExceededError(`must have at most ${MAX_TITLE_CHARACTERS} characters`, childPath(path, 'title'));
  }
  return title;
}

export function statusAt({ status }: Json, path: string): string | undefined {
  return status === undefined || status === null ? undefined : checkedName(status, childPath(path, 'status'));
}

export function namesAt(parent: Json, name: string, path: string): string[] {
  const names = parent[name] ?? [];
  const place = childPath(path, name);
  if (!Array.isArray(names)) throw new InvalidInputError('must be an array of names', place);
  return [...new Set(names.map((item, index) => checkedName(item, `${place}[${index}]`)))];
}

export function labelsAt(given: Json, path: string, mayRemove: boolean): Record<string, string | null> {
  const place = childPath(path, 'labels');
  const entries = Object.entries(objectAt(given, 'labels', path)).map(([name, value]) => {
    const label = checkedName(name, childPath(place, name));
    return [label, value === null && mayRemove ? null : checkedName(value, childPath(place, name))] as const;
  });
  return Object.fromEntries(entries);
}

function fieldsAt(given: Json, path: string): Record<string, unknown> {
  const fields = objectAt(given, 'fields', path);
  for (const name of Object.keys(fields)) checkedName(name, childPath(childPath(path, 'fields'), name));
  return { ...fields };
}

function checkedName(value: unknown, path: string): string {
  const problem = nameProblem(value);
  if (problem) throw new InvalidInputError(problem, path);
  return value as string;
}

function ifThere<Name extends string, Value>(name: Name, value: Value | undefined): Partial<Record<Name, Value>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>);
}

function ifAny<Name extends string, Value extends object>(name: Name, value: Value): Partial<Record<Name, Value>> {
  return Object.keys(value).length === 0 ? {} : ({ [name]: value } as Record<Name, Value>);
}
