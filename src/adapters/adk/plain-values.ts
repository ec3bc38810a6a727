import { setField } from '../../adapter.js';

/**
 * Copies what ADK and tools hand over, so that objects of classes become plain, as `JSON.stringify` makes them. Maps, sets, buffers
 * and what else JSON would lose stay as they are: the service refuses them, and says where they are.
 */
export function plainCopy(value: unknown): unknown {
  return copyOf(value, new Map());
}

/** @param copies of objects that were met before, so that shared ones are copied once, and circles end */
function copyOf(value: unknown, copies: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  if (hasToJson(value)) {
    const json = value.toJSON();
    return json === value ? value : copyOf(json, copies);
  }
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    copies.set(value, items);
    for (const item of value as unknown[]) items.push(item === undefined ? null : copyOf(item, copies));
    return items;
  }
  if (isLostInJson(value)) return value;
  const copy = {};
  copies.set(value, copy);
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== 'function') setField(copy, key, copyOf(item, copies));
  }
  return copy;
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function';
}

function isLostInJson(value: object): boolean {
  return value instanceof Map || value instanceof Set || value instanceof Promise || ArrayBuffer.isView(value);
}
