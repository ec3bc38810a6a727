import { compareBytes } from '../../../domain/ids.js';
import type { ComponentSessionsRequest } from '../../component-store.js';
import type { RedisKeys } from '../redis-keys.js';
import { ENCODE_ID, KEY_TYPES, TIME } from '../script/base.lua.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';

/** Keeps scripts short. */
const SESSIONS_PER_PURGE = 100;

/** What reads and cleans the indexes of all slots. */
export interface IndexScope {
  readonly scripts: ScriptRunner;
  readonly keys: RedisKeys;
  readonly isCluster: boolean;
}

/** The sessions of a slot that are read, and not yet returned. */
interface Slot {
  readonly keys: readonly [sessions: string, expiring: string];
  found: string[];
  /** The last one that was examined. */
  after: string;
  isDone: boolean;
}

/** Merges the ordered sessions of all slots, reading a few of each at a time. */
export async function listComponentSessions(
  scope: IndexScope,
  { after = '', limit }: ComponentSessionsRequest,
): Promise<string[]> {
  const slots: Slot[] = scope.keys
    .componentIndexes()
    .map(([sessions, expiring]) => ({ keys: [sessions, expiring], found: [], after, isDone: false }));
  const atOnce = Math.min(limit, Math.ceil((2 * limit) / slots.length) + 8);
  const listed: string[] = [];
  while (listed.length < limit) {
    await readMore(
      scope,
      slots.filter(({ found, isDone }) => found.length === 0 && !isDone),
      atOnce,
    );
    // All sessions up to here are found: a slot that is not done has found all up to the last that was examined.
    const [bound] = slots.flatMap((slot) => (slot.isDone ? [] : [slot.after])).toSorted(compareBytes);
    const isSafe = (id: string): boolean => bound === undefined || compareBytes(id, bound) <= 0;
    listed.push(...slots.flatMap(({ found }) => found.filter(isSafe)).toSorted(compareBytes));
    for (const slot of slots) slot.found = slot.found.filter((id) => !isSafe(id));
    if (bound === undefined) break;
  }
  return listed.slice(0, limit);
}

async function readMore({ scripts, isCluster }: IndexScope, slots: readonly Slot[], atOnce: number): Promise<void> {
  const groups = isCluster ? slots.map((slot) => [slot]) : [slots];
  await Promise.all(
    groups.map(async (group) => {
      const reply = await scripts.read<readonly [examined: NumberReply, last: string, live: string[]][]>(
        LIST_COMPONENT_SESSIONS,
        { keys: group.flatMap(({ keys }) => keys), args: [atOnce, ...group.map(({ after }) => after)] },
      );
      for (const [index, slot] of group.entries()) {
        const [examined, last, live] = reply[index] ?? [0, '', []];
        slot.found = live;
        slot.isDone = Number(examined) < atOnce;
        if (!slot.isDone) slot.after = last;
      }
    }),
  );
}

/** Removes expired sessions: also index entries of those that Redis has removed. Returns how many. */
export async function purgeComponents({ scripts, keys, isCluster }: IndexScope, limit: number): Promise<number> {
  const indexes = keys.componentIndexes();
  let removed = 0;
  for (const group of isCluster ? indexes.map((index) => [index]) : [indexes]) {
    let count = Infinity;
    while (count > 0 && removed < limit) {
      const args = [Math.min(limit - removed, SESSIONS_PER_PURGE)];
      count = Number(await scripts.write<NumberReply>(PURGE_COMPONENTS, { keys: group.flat(), args }));
      removed += count;
      if (count < SESSIONS_PER_PURGE) break;
    }
  }
  return removed;
}

/**
 * Reads sessions in the order of their bytes.
 *
 * KEYS for each slot: its sessions, the expiring ones among them.
 * ARGV 1 time, 2 how many to examine of each slot; for each slot: the session after which to begin, or ''.
 * Returns for each slot { how many were examined, the last of them, those that live }.
 */
export const LIST_COMPONENT_SESSIONS = defineScript(
  'list-component-sessions',
  TIME,
  String.raw`
local slots = {}
for slot = 1, #KEYS / 2 do
  local sessions, expiring, after = KEYS[2 * slot - 1], KEYS[2 * slot], ARGV[2 + slot]
  local found = redis.call('ZRANGEBYLEX', sessions, after == '' and '-' or '(' .. after, '+', 'LIMIT', 0, ARGV[2])
  local live = {}
  for _, session in ipairs(found) do
    local expiry = redis.call('ZSCORE', expiring, session)
    if not expiry or tonumber(expiry) > now then live[#live + 1] = session end
  end
  slots[slot] = { #found, found[#found] or '', live }
end
return slots
`,
);

/**
 * Removes expired sessions with all their keys.
 *
 * KEYS for each slot: its sessions, the expiring ones among them, the prefix of its keys. The script finds the keys of sessions
 *      through the second one, so the caller cannot name them.
 * ARGV 1 time, 2 how many to remove at most.
 * Returns how many it removed.
 */
export const PURGE_COMPONENTS = defineScript(
  'purge-components',
  TIME,
  ENCODE_ID,
  KEY_TYPES,
  String.raw`
local removed, most = 0, tonumber(ARGV[2])
for slot = 1, #KEYS / 3 do
  local sessions, expiring, base = KEYS[3 * slot - 2], KEYS[3 * slot - 1], KEYS[3 * slot]
  if removed == most then break end
  local expired = redis.call('ZRANGEBYSCORE', expiring, '-inf', text(math.floor(now)), 'LIMIT', 0, most - removed)
  if #expired > 0 then expectSortedSets(sessions) end
  for _, session in ipairs(expired) do
    local id = encode(session)
    for _, field in ipairs(redis.call('HKEYS', base .. 'component:' .. id)) do
      if string.sub(field, 1, 2) == 'l:' then
        redis.call('UNLINK', base .. 'items:' .. id .. ':' .. encode(string.sub(field, 3)))
      end
    end
    redis.call('UNLINK', base .. 'component:' .. id)
    redis.call('ZREM', sessions, session)
    redis.call('ZREM', expiring, session)
    removed = removed + 1
  end
end
return removed
`,
);
