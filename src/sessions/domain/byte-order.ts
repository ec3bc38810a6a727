/**
 * Compares by UTF-8 bytes, as every store does. JavaScript's own order differs beyond U+FFFF.
 *
 * @example
 * names.sort(compareBytes);
 */
export function compareBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}
