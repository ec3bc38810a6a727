import { createHash } from 'node:crypto';

/** A short fingerprint of a JSON value that does not depend on the order of keys. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url');
}

/** JSON text with sorted keys: the same for every value that means the same. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const properties = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${properties.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
}
