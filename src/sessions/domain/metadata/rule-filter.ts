import type { WriteLimits } from '../../../config/session-settings.js';
import { InvalidInputError } from '../errors/errors.js';
import { childPath, isPlainObject } from '../values/json-value.js';
import type { IndexEntry, MetadataChange } from './metadata-entries.js';
import { metadataInput } from './metadata-checks.js';
import { FILTER_FIELDS, type SessionFilter, filterEntries } from './session-filter.js';

/** A filter that an access rule has returned, and what it asks for. */
export interface RuleFilter {
  readonly filter: SessionFilter;
  readonly entries: readonly IndexEntry[];
}

/**
 * A copy of the filter of an access rule. A part without a value, such as the label of a user who has none, and a filter that asks for
 * nothing, are refused: both would show everything.
 */
export function ruleFilter(given: unknown, path: string, limits: WriteLimits): RuleFilter {
  assertValues(given, path);
  const filter: SessionFilter = metadataInput(given, path, limits, FILTER_FIELDS) ?? {};
  const entries = filterEntries(filter, path, limits);
  if (entries.length > 0) return { filter, entries };
  throw new InvalidInputError('asks for nothing: return true to allow all sessions, or false to allow none', path);
}

function assertValues(given: unknown, path: string): void {
  if (!isPlainObject(given)) throw new InvalidInputError('must be a plain object', path);
  for (const [name, value] of Object.entries(given)) {
    const place = childPath(path, name);
    if (value === undefined || value === null) throw new InvalidInputError(`is ${String(value)}`, place);
    if (isPlainObject(value)) assertValues(value, place);
  }
}

/** The entries that two filters ask for together; undefined if no session can have all of them. */
export function entriesOfBoth(one: readonly IndexEntry[], other: readonly IndexEntry[]): IndexEntry[] | undefined {
  const entries = [...new Set([...one, ...other])].toSorted();
  // A session has one status, and one value of a label.
  const names = new Set(entries.map((entry) => splitIndexEntry(entry)[0]));
  return names.size === entries.length ? entries : undefined;
}

/** Whether a session that has all of these entries still has them after the changes, one after the other. */
export function keepsEntries(changes: readonly MetadataChange[], entries: readonly IndexEntry[]): boolean {
  const wanted = new Map(entries.map(splitIndexEntry));
  return changes.every(([name, value]) => !wanted.has(name) || wanted.get(name) === value);
}

/** Whether a session that begins with these changes has all of the entries. They may not have been validated yet. */
export function beginsWithEntries(changes: readonly MetadataChange[], entries: readonly IndexEntry[]): boolean {
  const after = new Map(changes);
  return entries.map(splitIndexEntry).every(([name, value]) => after.get(name) === value);
}

function splitIndexEntry(entry: IndexEntry): readonly [name: string, value: string] {
  const [name = '', value = ''] = entry.split('\n');
  return [name, value];
}
