import { isPlainObject, setField } from '../../adapter.js';

/**
 * Copies what ADK and tools hand over, so that objects of classes become plain, as `JSON.stringify` makes them. Maps, errors, buffers,
 * functions and what else JSON would lose stay as they are: the service refuses them, and says where they are.
 */
export function plainCopy(value: unknown): unknown {
  return copyAsPlainValue(value, new Map());
}

/** @param copies of objects that were met before, so that shared ones are copied once, and circles end */
function copyAsPlainValue(value: unknown, copies: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  const kind = readObjectTag(value);
  // Both have a toJSON, which says nothing of an invalid date, and makes a buffer an object.
  if (kind === 'Date' || ArrayBuffer.isView(value)) return value;
  if (hasToJson(value)) {
    const json = value.toJSON();
    return json === value ? value : copyAsPlainValue(json, copies);
  }
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    copies.set(value, items);
    for (const item of value as unknown[]) items.push(copyAsPlainValue(item, copies));
    return items;
  }
  if (kind !== 'Object') return value;
  const copy = {};
  copies.set(value, copy);
  const isPlain = isPlainObject(value);
  for (const [key, item] of Object.entries(value)) {
    // Of a class, a function is a method.
    if (isPlain || typeof item !== 'function') setField(copy, key, copyAsPlainValue(item, copies));
  }
  return copy;
}

/** `Object` of objects of classes, too, but for those that say otherwise or hold what no field shows. */
function readObjectTag(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function';
}
