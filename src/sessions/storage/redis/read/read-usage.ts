import type { UsageQuery } from '../../../domain/usage/usage-periods.js';
import { groupBy } from '../../../domain/stored/batches.js';
import type { UsageReply } from '../../session-storage.js';
import type { RedisKeys } from '../redis-keys.js';
import { TIME } from '../script/base.lua.js';
import type { FlatHash } from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { usageOfFields } from '../script/usage.lua.js';

type SumsReply = readonly [now: string, ...sums: FlatHash[]];

/** Reads sums with one script; on a cluster with one for each slot. */
export async function readUsage(
  scripts: ScriptRunner,
  keys: RedisKeys,
  isCluster: boolean,
  queries: readonly UsageQuery[],
): Promise<UsageReply> {
  const groups =
    isCluster && queries.length > 0 ? [...groupBy(queries, (query) => keys.usageOf(query)).values()] : [queries];
  const replies = await Promise.all(groups.map((group) => readGroup(scripts, keys, group)));
  const sums = new Map(replies.flatMap(({ found }) => found));
  return { now: replies[0]?.now ?? 0, found: queries.map((query) => usageOfFields(sums.get(query) ?? [])) };
}

async function readGroup(
  scripts: ScriptRunner,
  keys: RedisKeys,
  queries: readonly UsageQuery[],
): Promise<{ now: number; found: (readonly [UsageQuery, FlatHash])[] }> {
  const [now, ...sums] = await scripts.read<SumsReply>(READ_USAGE, {
    keys: queries.map((query) => keys.usageOf(query)),
    args: queries.map(({ period }) => period),
  });
  return { now: Number(now), found: queries.map((query, index) => [query, sums[index] ?? []] as const) };
}

/**
 * Reads sums of usage.
 *
 * KEYS usage of users and apps.
 * ARGV 1 time, then for each key the period.
 * Returns { now, then for each key alternating fields and counts }.
 */
export const READ_USAGE = defineScript(
  'read-usage',
  TIME,
  String.raw`
-- The name of a UTC day, as in the domain. The Gregorian calendar repeats after 400 years. A year begins in March here, so that
-- a leap day is its last.
local function dayName(day)
  local shifted = day + 719468
  local era = math.floor(shifted / 146097)
  local ofEra = shifted - era * 146097
  local year = math.floor((ofEra - math.floor(ofEra / 1460) + math.floor(ofEra / 36524) - math.floor(ofEra / 146096)) / 365)
  local ofYear = ofEra - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * ofYear + 2) / 153)
  local ofMonth = ofYear - math.floor((153 * month + 2) / 5) + 1
  month = month < 10 and month + 3 or month - 9
  return string.format('%04d-%02d-%02d', year + era * 400 + (month <= 2 and 1 or 0), month, ofMonth)
end

local function periodName(period)
  local name = dayName(math.floor(now / 86400000))
  if period == 'day' then return name end
  return period == 'month' and string.sub(name, 1, 7) or period
end

-- The counts of the last day are not yet in those of its month.
local function sumsOf(key, name)
  local expiry, lastDay = string.match(redis.call('HGET', key, '') or '', '^(%d+) (.*)$')
  if not expiry or tonumber(expiry) <= now then return {} end
  local fields, sums = redis.call('HGETALL', key), {}
  local withLastDay = name == 'total' or name == string.sub(lastDay, 1, 7)
  for index = 1, #fields, 2 do
    local period, field = string.match(fields[index], '^([%d-]+) (.*)$')
    if period and (period == name or (name == 'total' and #period == 7) or (withLastDay and period == lastDay)) then
      sums[#sums + 1] = field
      sums[#sums + 1] = fields[index + 1]
    end
  end
  return sums
end

local reply = { text(now) }
for index, key in ipairs(KEYS) do reply[index + 1] = sumsOf(key, periodName(ARGV[index + 1])) end
return reply
`,
);
