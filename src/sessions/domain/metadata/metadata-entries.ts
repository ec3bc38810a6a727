import { areWithinLimits } from './metadata-limits.js';

/**
 * Metadata as stores keep it: one text with two lines for each entry, its name and its value as JSON text. Neither holds
 * a line break. The names are `title`, `status`, `tag:…`, `label:…` and `field:…`; a session without metadata has `''`.
 */
export type MetadataText = string;

/** An entry to set to a JSON text, or to remove (`null`). */
export type MetadataChange = readonly [name: string, value: string | null];

/** The entries of a text, by name. */
export function metadataEntries(text: MetadataText): Map<string, string> {
  if (text === '') return new Map();
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
  const lines = [...entries].map(([name, value]) => `${name}\n${value}\n`);
  return areWithinLimits(lines) ? lines.join('') : undefined;
}

/** Changes in a row as one change: the last of each entry counts. */
export function foldMetadata(all: readonly (readonly MetadataChange[])[]): MetadataChange[] {
  const changes = all.flat();
  return changes.length < 2 ? changes : [...new Map(changes)];
}

/**
 * An entry of metadata by which lists can be filtered: the two lines that it has in the text, without the last line
 * break. There is one for the status, for each tag and for each label. It has at most 582 bytes.
 */
export type IndexEntry = string;

const INDEXED = /^(status$|tag:|label:)/;

/**
 * The entries by which a session is found. A store that does not read the metadata of each session keeps them in an
 * index, and changes it in the commit that changes the metadata.
 *
 * @example const { added, removed } = indexChanges(indexEntries(before), indexEntries(after));
 */
export function indexEntries(text: MetadataText): IndexEntry[] {
  return [...metadataEntries(text)].flatMap(([name, value]) => (INDEXED.test(name) ? [`${name}\n${value}`] : []));
}

/**
 * Whether the metadata has all of these entries.
 *
 * @example const found = sessions.filter(({ metadata }) => hasEntries(metadata, request.filter?.entries ?? []));
 */
export function hasEntries(text: MetadataText, wanted: readonly IndexEntry[]): boolean {
  if (wanted.length === 0) return true;
  const entries = new Set(indexEntries(text));
  return wanted.every((entry) => entries.has(entry));
}

/**
 * What changes in an index of entries.
 *
 * @example const { added, removed } = indexChanges(indexEntries(before), indexEntries(after));
 */
export function indexChanges(
  before: readonly IndexEntry[],
  after: readonly IndexEntry[],
): { readonly added: IndexEntry[]; readonly removed: IndexEntry[] } {
  return {
    added: after.filter((entry) => !before.includes(entry)),
    removed: before.filter((entry) => !after.includes(entry)),
  };
}
