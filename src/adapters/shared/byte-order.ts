/** Texts by code points, as the order of their bytes. */
export function inByteOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
