import { isPlainObject } from '../../adapter.js';

/** Adds metadata to metadata, field by field, as pages do it. */
export function mergedMetadata(before: unknown, added: unknown): unknown {
  if (added === undefined || added === null) return before;
  if (!isPlainObject(before) || !isPlainObject(added)) return added;
  const fields = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(added)) fields.set(name, mergedMetadata(fields.get(name), value));
  return Object.fromEntries(fields);
}
