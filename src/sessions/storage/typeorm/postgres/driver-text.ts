/** `?` as `$1`, `$2` … Our statements have it nowhere else. */
export function numbered(text: string): string {
  let number = 0;
  return text.replaceAll('?', () => `$${(number += 1)}`);
}

const NUMBERS = new Set([20, 21, 23, 1700]);

/** Numbers are whole and safe, whatever their column. */
export const columnTypes = {
  getTypeParser: (oid: number) => (text: string) => (NUMBERS.has(oid) ? Number(text) : text),
};
