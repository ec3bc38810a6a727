import { groupBy } from '../../../domain/stored/batches.js';
import { DamagedDataError } from '../../../domain/stored/stored-json.js';
import {
  type EntryCounts,
  type EntryOutcome,
  type EntryPlace,
  type EntryRange,
  type EntryStore,
  type EntryTime,
  type EntryWrite,
  type FoundEntries,
  PARKED,
  type StoredEntry,
  groupOfSpace,
} from '../../entry-store.js';
import { type RedisKeys, encodeId } from '../redis-keys.js';
import { type ScriptArguments, optional, parseHashPairs } from '../script/codec.js';
import type { NumberReply, ScriptCall, ScriptRunner } from '../script/script.js';
import { COUNT_ENTRIES, FIND_ENTRIES, RANGE_ENTRIES, WRITE_ENTRIES } from './entry-scripts.js';

/** Each write removes so many expired entries, so that they do not become more and more. */
const REMOVED_PER_WRITE = 10;

/** Few enough to ask each, and enough for the nodes of any cluster. */
const GROUPS_OF_CLUSTER = 128;

/** Entries in Redis. Those of a group are in one slot, and each call is one script; on a cluster, `find` is one for each slot. */
export class RedisEntries implements EntryStore {
  readonly groups: number;

  constructor(
    private readonly scripts: ScriptRunner,
    private readonly keys: RedisKeys,
    private readonly isCluster: boolean,
  ) {
    this.groups = isCluster ? GROUPS_OF_CLUSTER : 1;
  }

  async find(places: readonly EntryPlace[]): ReturnType<EntryStore['find']> {
    const byGroup = [...groupBy([...places.entries()], ([, { space }]) => groupOfSpace(space)).values()];
    const entries: (StoredEntry | undefined)[] = places.map(() => undefined);
    const times = await Promise.all(
      (byGroup.length > 0 ? byGroup : [[]]).map(async (some) => {
        const own = some.map(([, place]) => place);
        const [now, ...found] = await this.scripts.read<EntriesReply>(
          FIND_ENTRIES,
          this.#call(own, own.map(formatEntryField)),
        );
        for (const [at, [index, place]] of some.entries()) entries[index] = entryAt(place, found[at]);
        return Number(now);
      }),
    );
    return { now: Math.min(...times), entries };
  }

  async range({ space, from = -Infinity, upTo = PARKED, after, limit }: EntryRange): Promise<FoundEntries> {
    const lowest = from === -Infinity ? '-inf' : from;
    const args = [encodeId(space), lowest, upTo, limit, ...(after ? [after.rank, after.name] : [])];
    const [now, ...found] = await this.scripts.read<[string, ...string[]]>(
      RANGE_ENTRIES,
      this.#call([{ space }], args),
    );
    return {
      now: Number(now),
      entries: parseHashPairs(found).map(([name, text]) => parseStoredEntry({ space, name }, text)),
    };
  }

  async write(writes: readonly EntryWrite[], news?: 'work'): Promise<EntryOutcome> {
    const tell = news ? (this.isCluster ? 'SPUBLISH' : 'PUBLISH') : '';
    const args = [REMOVED_PER_WRITE, tell, ...writes.flatMap(toEntryArguments)];
    const [now, ...found] = await this.scripts.write<EntriesReply>(WRITE_ENTRIES, this.#call(writes, args));
    if (found.length === 0) return { kind: 'written', now: Number(now) };
    return { kind: 'changed', now: Number(now), entries: writes.map((place, index) => entryAt(place, found[index])) };
  }

  async count(space: string): Promise<EntryCounts> {
    const [now, waiting, oldest, parked] = await this.scripts.read<[string, NumberReply, string | null, NumberReply]>(
      COUNT_ENTRIES,
      this.#call([{ space }], [encodeId(space)]),
    );
    const oldestSince = oldest === null ? undefined : Number(oldest);
    return { now: Number(now), waiting: Number(waiting), oldestSince, parked: Number(parked) };
  }

  /** Removes expired entries. */
  async purge(limit: number): Promise<void> {
    await this.scripts.write(WRITE_ENTRIES, this.#call([], [limit, '']));
  }

  #call(places: readonly Pick<EntryPlace, 'space'>[], args: ScriptArguments): ScriptCall {
    const [group, ...others] = new Set(places.map(({ space }) => groupOfSpace(space)));
    if (others.length > 0) throw new Error('A script has one group of entries');
    const keys = this.keys.entries(group);
    return { keys, args, usedKeys: () => [...keys, ...places.flatMap(({ space }) => this.keys.ranksOf(space))] };
  }
}

/** The time, then texts of entries. */
type EntriesReply = [now: string, ...entries: (string | null)[]];

/** How scripts name an entry: an encoded space has no colon. */
function formatEntryField({ space, name }: EntryPlace): string {
  return `${encodeId(space)}:${name}`;
}

function toEntryArguments({ space, name, expected, next }: EntryWrite): ScriptArguments {
  const compared = [formatEntryField({ space, name }), optional(expected)];
  if (next === undefined || next === 'same') return [...compared, next ?? '', '', '', '', ''];
  return [...compared, next.stamp, timeArgument(next.rank), timeArgument(next.since), next.ttlMs, next.text];
}

function timeArgument(time: EntryTime): string | number {
  return typeof time === 'number' ? time : `+${time.inMs}`;
}

function entryAt(place: EntryPlace, text: string | null | undefined): StoredEntry | undefined {
  return typeof text === 'string' ? parseStoredEntry(place, text) : undefined;
}

/** The lines are: expiry, stamp, rank, since, text. The last one may contain line breaks. */
function parseStoredEntry({ space, name }: EntryPlace, stored: string): StoredEntry {
  const [, stamp, rank, since, text] = /^\d+\n(\d+)\n(-?\d+)\n(-?\d+)\n(.*)$/s.exec(stored) ?? [];
  if (text === undefined) throw new DamagedDataError('an entry');
  return { space, name, stamp: Number(stamp), rank: Number(rank), since: Number(since), text };
}
