import { type MetadataText, metadataEntries } from './metadata-entries.js';

/**
 * An entry of metadata by which lists can be filtered: the two lines that it has in the text, without the last line
 * break. There is one for the status, for each tag and for each label. It has at most 582 bytes.
 */
export type IndexEntry = string;

/** How many entries a filter can ask for. */
export const MAX_FILTER_ENTRIES = 16;

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
