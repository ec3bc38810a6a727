/** A column of an answer. */
interface Field {
  readonly type: string;
  string(encoding: string): string | null;
}

/** What becomes of a column. */
export type TypeCast = (field: Field) => string | number | null;

const NUMBERS = new Set(['TINY', 'SHORT', 'LONG', 'INT24', 'LONGLONG', 'DECIMAL', 'NEWDECIMAL']);

/** Parses all numbers, which are safe integers, and reads binary columns as text. */
export function typeCast(field: Field): string | number | null {
  const text = field.string('utf8');
  return text !== null && NUMBERS.has(field.type) ? Number(text) : text;
}
