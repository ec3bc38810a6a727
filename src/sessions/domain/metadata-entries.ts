/**
 * Metadata as stores keep it: one text with two lines for each entry, its name and its value as JSON text. Neither holds
 * a line break. The names are `title`, `status`, `tag:…`, `label:…` and `field:…`; a session without metadata has `''`.
 */
export type MetadataText = string;

/** An entry to set to a JSON text, or to remove (`null`). */
export type MetadataChange = readonly [name: string, value: string | null];

/** How much metadata a session can have. */
export const METADATA_LIMITS = { tags: 64, labels: 16, fields: 64, bytes: 32_768 } as const;

const MAX_OF_KIND = [
  ['tag:', METADATA_LIMITS.tags],
  ['label:', METADATA_LIMITS.labels],
  ['field:', METADATA_LIMITS.fields],
] as const;

/** The entries of a text, by name. */
export function metadataEntries(text: MetadataText): Map<string, string> {
  const lines = text.split('\n');
  const entries = new Map<string, string>();
  for (let index = 0; index + 1 < lines.length; index += 2) entries.set(lines[index] ?? '', lines[index + 1] ?? '');
  return entries;
}

/**
 * The metadata after a commit; `undefined` if that is more than a session can have. A store calls this where it holds the
 * lock of the session, so that no change is lost.
 *
 * @example
 * const metadata = metadataAfter(stored.metadata, commit.metadata ?? []);
 * if (metadata === undefined) return { kind: 'full' };
 */
export function metadataAfter(text: MetadataText, changes: readonly MetadataChange[]): MetadataText | undefined {
  if (changes.length === 0) return text;
  const entries = metadataEntries(text);
  for (const [name, value] of changes) {
    if (value === null) entries.delete(name);
    else entries.set(name, value);
  }
  const after = [...entries].map(([name, value]) => `${name}\n${value}\n`).join('');
  return hasRoom([...entries.keys()], after) ? after : undefined;
}

/** Changes in a row as one change: the last of each entry counts. */
export function foldMetadata(all: readonly (readonly MetadataChange[])[]): MetadataChange[] {
  return [...new Map(all.flat())];
}

function hasRoom(names: readonly string[], text: MetadataText): boolean {
  const isOverfull = ([kind, max]: (typeof MAX_OF_KIND)[number]): boolean =>
    names.filter((name) => name.startsWith(kind)).length > max;
  return !MAX_OF_KIND.some(isOverfull) && Buffer.byteLength(text) <= METADATA_LIMITS.bytes;
}

/** The message of the error when {@link metadataAfter} refuses. */
export function metadataLimitText(): string {
  const { tags, labels, fields, bytes } = METADATA_LIMITS;
  return `a session has at most ${tags} tags, ${labels} labels, ${fields} fields and ${bytes} bytes of metadata`;
}
