import { isPlainObject } from '../../adapter.js';

/** A block of a message's content, of whatever vendor. */
export type Block = Readonly<Record<string, unknown>>;

/** The value as a block; one without fields, if it is none. */
export function blockOf(value: unknown): Block {
  return isPlainObject(value) ? value : {};
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
