import { isPlainObject, setField } from './json-value.js';

/**
 * A copy that shares no array, plain object or date with the value. Objects of other classes, such as a client under a
 * `temp:` key, stay the same.
 */
export function plainCopyOf<Value>(value: Value): Value {
  return copyDeep(value, new Map()) as Value;
}

/** @param known the copies so far: what is in a value twice, or holds itself, does so in the copy */
function copyDeep(value: unknown, known: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const before = known.get(value);
  if (before !== undefined) return before;
  if (value instanceof Date) return new Date(value);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    known.set(value, items);
    for (const item of value) items.push(copyDeep(item, known));
    return items;
  }
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = {};
  known.set(value, copy);
  for (const [name, item] of Object.entries(value)) setField(copy, name, copyDeep(item, known));
  return copy;
}
