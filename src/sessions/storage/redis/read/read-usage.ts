import { type UsageQuery, sessionOfUsage } from '../../../domain/usage-periods.js';
import { groupBy } from '../../../domain/batches.js';
import type { UsageReply } from '../../session-storage.js';
import type { RedisKeys } from '../redis-keys.js';
import { TIME } from '../script/base.lua.js';
import { recordPattern } from '../script/codec.js';
import { RECORD_TEXT } from '../script/session.lua.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { USAGE_PERIODS, usageOfText } from '../script/usage.lua.js';

type SumsReply = readonly [now: string, ...sums: (string | null)[]];

/** Reads sums with one script; on a cluster with one for each slot. */
export async function readUsage(
  scripts: ScriptRunner,
  keys: RedisKeys,
  isCluster: boolean,
  queries: readonly UsageQuery[],
): Promise<UsageReply> {
  const groups = isCluster
    ? [...groupBy(queries, ({ appName, userId }) => keys.usageOf({ appName, userId })).values()]
    : [queries];
  const replies = await Promise.all(groups.map((group) => readGroup(scripts, keys, group)));
  const texts = new Map(replies.flatMap(({ found }) => found));
  const found = queries.map((query) => {
    const text = texts.get(query) ?? null;
    return text === null ? undefined : usageOfText(text);
  });
  return { now: replies[0]?.now ?? 0, found };
}

async function readGroup(
  scripts: ScriptRunner,
  keys: RedisKeys,
  queries: readonly UsageQuery[],
): Promise<{ now: number; found: (readonly [UsageQuery, string | null])[] }> {
  const [now, ...sums] = await scripts.read<SumsReply>(READ_USAGE, {
    keys: queries.map((query) => {
      const key = sessionOfUsage(query);
      return key ? keys.recordOf(key) : keys.usageOf(query);
    }),
    args: queries.map((query) => (sessionOfUsage(query) ? '' : query.period)),
  });
  return { now: Number(now), found: queries.map((query, index) => [query, sums[index] ?? null] as const) };
}

/**
 * Reads sums of usage.
 *
 * KEYS records of sessions, or usage of users and apps.
 * ARGV 1 time, then for each key the period, or '' for a session.
 * Returns { now, then for each key the sums, or nothing for a session that does not exist }.
 */
export const READ_USAGE = defineScript(
  'read-usage',
  TIME,
  RECORD_TEXT,
  USAGE_PERIODS,
  String.raw`
-- The sums of the current day are not yet in those of its month.
local function sumsOf(key, name)
  local head, current, stored = unpack(redis.call('HMGET', key, '', 'today', name))
  local expiry, day = string.match(head or '', '^(%d+) (%d+)$')
  if not expiry or tonumber(expiry) <= now then return '' end
  local texts = { stored or nil }
  if name == 'total' then
    local fields = redis.call('HGETALL', key)
    for index = 1, #fields, 2 do
      if #fields[index] == 7 then texts[#texts + 1] = fields[index + 1] end
    end
  end
  local lastDay = dayName(tonumber(day))
  if name == 'total' or name == lastDay or name == string.sub(lastDay, 1, 7) then texts[#texts + 1] = current end
  return table.concat(texts, '\n')
end

local reply = { text(now) }
for index, key in ipairs(KEYS) do
  local period = ARGV[index + 1]
  if period == '' then
    local record, _, usage = readRecord(key, 'usage')
    local expires = tonumber(string.match(record or '', ${recordPattern('expires')}))
    reply[index + 1] = expires and expires > now and (usage or '') or false
  else
    reply[index + 1] = sumsOf(key, periodName(period))
  end
end
return reply
`,
);
