import type { WriteLimits } from '../../../config/session-settings.js';
import { InvalidInputError } from '../errors/errors.js';
import { childPath } from '../values/json-value.js';
import { labelsAt, metadataInput, namesAt, statusAt } from './metadata-checks.js';
import type { IndexEntry } from './metadata-entries.js';
import { MAX_FILTER_ENTRIES } from './metadata-limits.js';
import { metadataChanges } from './metadata.js';

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

export const FILTER_FIELDS = ['status', 'tags', 'labels'] as const satisfies readonly (keyof SessionFilter)[];

/** The entries that a filter asks for, sorted, so that equal filters have equal entries. Empty without a filter. */
export function filterEntries(filter: unknown, path: string, limits: WriteLimits): IndexEntry[] {
  const given = metadataInput(filter, path, limits, FILTER_FIELDS);
  if (!given) return [];
  assertLabelValues(filter as SessionFilter, path);
  const changes = metadataChanges({
    status: statusAt(given, path) ?? null,
    tags: { add: namesAt(given, 'tags', path) },
    labels: labelsAt(given, path, false),
  });
  const entries = changes.flatMap(([name, value]) => (value === null ? [] : [`${name}\n${value}`]));
  assertFilterSize(entries, path);
  return entries.toSorted();
}

/** A copy would lose a label without a value, and the list would have more sessions than was asked for. */
function assertLabelValues({ labels }: SessionFilter, path: string): void {
  const found = Object.entries(labels ?? {}).find(([, value]) => (value as unknown) === undefined);
  if (!found) return;
  throw new InvalidInputError('is undefined; leave it out to ask for any', childPath(`${path}.labels`, found[0]));
}

export function assertFilterSize({ length }: readonly IndexEntry[], path: string): void {
  if (length <= MAX_FILTER_ENTRIES) return;
  throw new InvalidInputError(`must ask for at most ${MAX_FILTER_ENTRIES} entries, not ${length}`, path);
}
