import type { WriteLimits } from '../../config/session-settings.js';
import { InvalidInputError } from './errors.js';
import { metadataChanges } from './metadata.js';
import { type IndexEntry, MAX_FILTER_ENTRIES } from './metadata-index.js';
import { labelsAt, metadataInput, namesAt, statusAt } from './submitted-metadata.js';

/**
 * Which sessions a list has: those whose metadata has all of this.
 *
 * @example const filter: SessionFilter = { status: 'open', tags: ['vip'], labels: { region: 'eu' } };
 */
export interface SessionFilter {
  readonly status?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** The entries that a filter asks for, sorted, so that equal filters have equal entries. Empty without a filter. */
export function filterEntries(filter: unknown, path: string, limits: WriteLimits): IndexEntry[] {
  const given = metadataInput(filter, path, limits, ['status', 'tags', 'labels']);
  if (!given) return [];
  const changes = metadataChanges({
    status: statusAt(given, path) ?? null,
    tags: { add: namesAt(given, 'tags', path) },
    labels: labelsAt(given, path, false),
  });
  const entries = changes.flatMap(([name, value]) => (value === null ? [] : [`${name}\n${value}`]));
  if (entries.length > MAX_FILTER_ENTRIES) {
    throw new InvalidInputError(`must ask for at most ${MAX_FILTER_ENTRIES} entries, not ${entries.length}`, path);
  }
  return entries.toSorted();
}
