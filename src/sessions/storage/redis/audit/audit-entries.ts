import type { StoreProblem } from '../../store-audit.js';
import { ENTRY } from '../entries/entry-scripts.js';
import { TIME } from '../script/base.lua.js';
import { flag } from '../script/codec.js';
import { type NumberReply, defineScript } from '../script/script.js';
import { type AuditTools, runAudit } from './audit-session.js';

/** Fields of entries, without the long texts, which begin with a line break. */
export const FIELDS_OF_ENTRIES = '[^\n]*';

/** Finds entries that are not in the sorted sets as they say, and corrects these if asked. */
export async function auditEntries(tools: AuditTools, key: string, fields: readonly string[]): Promise<StoreProblem[]> {
  if (fields.length === 0) return [];
  const { keys, repair } = tools;
  const [entries, expiring] = keys.entriesBeside(key);
  const spaces = [...new Set(fields.map((field) => field.slice(0, field.indexOf(':'))))];
  const sets = spaces.flatMap((space) => keys.ranksOf(decodeURIComponent(space)));
  const call = {
    keys: [entries, expiring],
    args: [flag(repair), ...fields],
    usedKeys: () => [entries, expiring, ...sets],
  };
  const wrong = await runAudit<NumberReply[]>(tools, AUDIT_ENTRIES, call);
  return wrong.map((place) => ({
    code: 'INDEX_DIFFERS',
    detail: `${keys.withoutPrefix(key)} has ${fields[Number(place) - 1]}, which the sorted sets have at another place`,
    isRepaired: repair,
  }));
}

/**
 * Compares entries with the sorted sets.
 *
 * KEYS 1 entries, 2 those that expire.
 * ARGV 1 time, 2 whether to repair (1 or 0), then the fields.
 * Returns the places of those that differ.
 */
export const AUDIT_ENTRIES = defineScript(
  'audit-entries',
  TIME,
  ENTRY,
  String.raw`
local wrong = {}
for place = 1, #ARGV - 2 do
  local field = ARGV[2 + place]
  local entry = liveEntry(field)
  if entry then
    local space, name = splitField(field)
    local expiry, rank, since = string.match(entry, '^(%d+)\n%d+\n(%-?%d+)\n(%-?%d+)')
    local ranks, waiting = keysOf(space)
    local sets = {
      { ranks, name, rank },
      { waiting, name, tonumber(rank) ~= PARKED and since },
      { KEYS[2], field, tonumber(expiry) < NEVER and expiry },
    }
    local isRight = true
    for _, set in ipairs(sets) do
      local key, member, score = unpack(set)
      local found = redis.call('ZSCORE', key, member)
      if (found and tonumber(found)) ~= (score and tonumber(score)) then
        isRight = false
        if ARGV[2] == '1' then
          local isNew = redis.call('EXISTS', key) == 0
          if score then redis.call('ZADD', key, score, member) else redis.call('ZREM', key, member) end
          if score then extendExpiry(key, tonumber(expiry), isNew) end
        end
      end
    end
    if not isRight then wrong[#wrong + 1] = place end
  end
end
return wrong
`,
);
