/** Why a value cannot be a name in every store, or `undefined`. */
export function textProblem(value: unknown, maxBytes: number): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value === '') return 'must not be empty';
  if (!value.isWellFormed()) return 'must not hold a lone surrogate';
  if (value.includes('\u0000')) return 'must not hold U+0000';
  if (Buffer.byteLength(value) > maxBytes) return `must be at most ${maxBytes} UTF-8 bytes long`;
  return undefined;
}
