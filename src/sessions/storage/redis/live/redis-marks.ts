import { type UserKey, compareBytes } from '../../../domain/values/ids.js';
import type { ChangedSession, SessionMarks } from '../../coordination.js';
import { LIST_APPS } from '../expire/purge-expired.js';
import type { RedisKeys } from '../redis-keys.js';
import { ENCODE_ID, TIME } from '../script/base.lua.js';
import { flag, recordPattern } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { RECORD_TEXT } from '../script/session.lua.js';
import { SLOTS } from '../cluster-slots.js';

/** Slots to read per call, in addition to those with a hint. */
const SLOTS_PER_CALL = 128;
const HINTS_PER_CALL = 256;
/** Minimum interval between two reads of some of all slots. */
const LOOK_MS = 25;
const LOOK_WITH_HINTS_MS = 1_000;

/** Sessions whose events wait to be dispatched to consumers. */
export class RedisMarks implements SessionMarks {
  #nextSlot = Math.floor(Math.random() * SLOTS);
  #lookedAt = -Infinity;

  constructor(
    private readonly scripts: ScriptRunner,
    private readonly keys: RedisKeys,
    private readonly isCluster: boolean,
    readonly lagMs: number,
  ) {}

  async apps(): Promise<string[]> {
    const names = await this.scripts.read<string[]>(LIST_APPS, { keys: [this.keys.apps], args: [] });
    return names.toSorted(compareBytes);
  }

  /**
   * On a cluster, each slot has its own key of changed sessions. After an append, the slot is added to a shared key,
   * without waiting. In case the process crashes before that, calls also read some of all slots.
   */
  async changed(limit: number): Promise<ChangedSession[]> {
    if (!this.isCluster) return this.#read(this.keys.changed, limit);
    const hinted = await this.scripts.write<string[]>(TAKE_HINTS, {
      keys: [this.keys.changedSlots],
      args: [HINTS_PER_CALL],
    });
    const slots = new Set([...hinted.map(Number), ...(this.#isLookDue(hinted.length > 0) ? this.#someSlots() : [])]);
    const found = await Promise.all(
      [...slots].map(async (slot) => ({ slot, sessions: await this.#read(this.keys.changedOfSlot(slot), limit) })),
    );
    const changed = found.filter(({ sessions }) => sessions.length > 0);
    if (changed.length > 0)
      await hint(
        this.scripts,
        this.keys,
        changed.map(({ slot }) => slot),
        false,
      );
    return changed
      .flatMap(({ sessions }) => sessions)
      .toSorted((a, b) => a.waitingSince - b.waitingSince)
      .slice(0, limit);
  }

  /** Wake-ups make many calls, and hints are usually all there is. */
  #isLookDue(hasHints: boolean): boolean {
    const now = performance.now();
    if (now - this.#lookedAt < (hasHints ? LOOK_WITH_HINTS_MS : LOOK_MS)) return false;
    this.#lookedAt = now;
    return true;
  }

  #someSlots(): number[] {
    const first = this.#nextSlot;
    this.#nextSlot = (first + SLOTS_PER_CALL) % SLOTS;
    return Array.from({ length: SLOTS_PER_CALL }, (_, index) => (first + index) % SLOTS);
  }

  async #read(key: string, limit: number): Promise<ChangedSession[]> {
    const found = await this.scripts.write<string[][]>(FIND_CHANGED, {
      keys: [key],
      args: [limit, this.keys.withoutPrefix(key).length],
    });
    return found.map(([member = '', incarnation = '', ...numbers]) => {
      const [appName = '', userId = '', sessionId = ''] = member.split('\u0000');
      const [createTime = 0, lastSeq = 0, dispatchedSeq = 0, waitingSince = 0] = numbers.map(Number);
      return { appName, userId, sessionId, incarnation, createTime, lastSeq, dispatchedSeq, waitingSince };
    });
  }
}

/** On a cluster: hints that sessions of a user changed. */
export async function hintAtChange(scripts: ScriptRunner, keys: RedisKeys, owner: UserKey): Promise<void> {
  await hint(scripts, keys, [keys.slotOf(owner)], true);
}

async function hint(
  scripts: ScriptRunner,
  keys: RedisKeys,
  slots: readonly number[],
  announces: boolean,
): Promise<void> {
  await scripts.write(HINT_AT_SLOTS, { keys: [keys.changedSlots], args: [flag(announces), ...slots] });
}

/**
 * Reads changed sessions, the longest wait first, and removes those that are gone.
 *
 * KEYS 1 changed sessions.
 *      The script finds the records through the members, so the caller cannot name them. On a cluster they are in the
 *      same slot.
 * ARGV 1 time, 2 limit, 3 length of the name of key 1 without its prefix.
 * Returns for each session { member, incarnation, created, last, dispatched, waiting since }.
 */
export const FIND_CHANGED = defineScript(
  'find-changed',
  TIME,
  ENCODE_ID,
  RECORD_TEXT,
  String.raw`
local prefix = string.sub(KEYS[1], 1, #KEYS[1] - tonumber(ARGV[3]))
local found, gone = {}, {}
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[2]) - 1)) do
  local app, user, id = string.match(member, '^(%Z*)%z(%Z*)%z(%Z*)$')
  local key = prefix .. '{' .. encode(app) .. '|' .. encode(user) .. '}:session:' .. encode(id)
  local incarnation, created, expires, last, dispatched, waiting =
    string.match(readRecord(key) or '', ${recordPattern('incarnation', 'created', 'expires', 'last', 'dispatched', 'waiting')})
  if incarnation and tonumber(expires) > now and (tonumber(waiting) or 0) > 0 then
    found[#found + 1] = { member, incarnation, created, last, dispatched, waiting }
  else
    gone[#gone + 1] = member
  end
end
for _, member in ipairs(gone) do redis.call('ZREM', KEYS[1], member) end
return found
`,
);

/**
 * Stores hints about slots with changed sessions. They expire after a day.
 *
 * KEYS 1 slots.
 * ARGV 1 time, 2 whether to announce it (1 or 0), then slots.
 * Returns nothing.
 */
export const HINT_AT_SLOTS = defineScript(
  'hint-at-slots',
  TIME,
  String.raw`
for index = 3, #ARGV do redis.call('ZADD', KEYS[1], 0, ARGV[index]) end
expireKeys({ KEYS[1] }, expiresAt(86400000))
if ARGV[2] == '1' then redis.pcall('SPUBLISH', KEYS[1], '') end
`,
);

/**
 * Removes hints and returns them.
 *
 * KEYS 1 slots.
 * ARGV 1 time, 2 limit.
 * Returns slots.
 */
export const TAKE_HINTS = defineScript(
  'take-hints',
  String.raw`
local slots = redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[2]) - 1)
if #slots > 0 then redis.call('ZREM', KEYS[1], unpack(slots)) end
return slots
`,
);
