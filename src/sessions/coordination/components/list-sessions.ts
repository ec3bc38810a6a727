import { isExpired } from '../../domain/values/expiry.js';
import { compareBytes } from '../../domain/values/ids.js';
import type { ComponentSessionsRequest } from '../../storage/component-store.js';
import { type EntryStore, PARKED } from '../../storage/entry-store.js';
import { spacesOf } from './component-places.js';

/** The sessions of a group that are read, and not yet returned. */
interface Group {
  readonly space: string;
  found: readonly string[];
  /** The last one that was read. */
  after: string | undefined;
  isDone: boolean;
}

/** Merges the ordered sessions of all groups, reading a few of each at a time. */
export async function listComponentSessions(
  entries: EntryStore,
  groupCount: number,
  { after, limit }: ComponentSessionsRequest,
): Promise<string[]> {
  const groups = Array.from({ length: groupCount }, (_, group): Group => {
    return { space: spacesOf(group).heads, found: [], after, isDone: false };
  });
  const atOnce = Math.min(limit, 1_000, Math.ceil((2 * limit) / groupCount) + 8);
  const listed: string[] = [];
  while (listed.length < limit) {
    const empty = groups.filter(({ found, isDone }) => found.length === 0 && !isDone);
    await Promise.all(empty.map((group) => readMore(entries, group, atOnce)));
    // All sessions up to here are found: a group that is not done has found all up to the last that was read.
    const [bound] = groups.flatMap((group) => (group.isDone ? [] : [group.after ?? ''])).toSorted(compareBytes);
    const isSafe = (id: string): boolean => bound === undefined || compareBytes(id, bound) <= 0;
    listed.push(...groups.flatMap(({ found }) => found.filter(isSafe)).toSorted(compareBytes));
    for (const group of groups) group.found = group.found.filter((id) => !isSafe(id));
    if (bound === undefined) break;
  }
  return listed.slice(0, limit);
}

async function readMore(entries: EntryStore, group: Group, atOnce: number): Promise<void> {
  const { space, after: name } = group;
  const after = name === undefined ? undefined : { rank: PARKED, name };
  const { now, entries: found } = await entries.range({ space, after, limit: atOnce });
  group.found = found.filter(({ since }) => !isExpired(since, now)).map(({ name: id }) => id);
  group.isDone = found.length < atOnce;
  if (!group.isDone) group.after = found.at(-1)?.name;
}
