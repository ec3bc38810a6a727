/** A block of a message's content, of whatever vendor. */
export type Block = Readonly<Record<string, unknown>>;

/** The value as a block; one without fields, if it is none. */
export function blockOf(value: unknown): Block {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Block) : {};
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
