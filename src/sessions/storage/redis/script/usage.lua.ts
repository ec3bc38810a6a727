import { DAY_MS, NEVER } from '../../../domain/values/expiry.js';
import { DAYS_KEPT, type UsageIncrement, periodName } from '../../../domain/usage/usage-periods.js';
import {
  type ModelUsage,
  type TokenUsage,
  USAGE_COUNTS,
  usageByModel,
  usageWith,
} from '../../../domain/usage/usage.js';
import { type FlatHash, parseHashPairs } from './codec.js';

/** Counts of models as fields with numbers: the place of the count in `USAGE_COUNTS`, and the model. Without those that are 0. */
export function usageFields(models: readonly ModelUsage[]): [field: string, count: number][] {
  return models.flatMap((usage) =>
    USAGE_COUNTS.flatMap((name, place) =>
      usage[name] === 0 ? [] : [[`${place} ${usage.model}`, usage[name]] as [string, number]],
    ),
  );
}

/** Decodes fields of counts. A field may be there several times. */
export function usageOfFields(reply: FlatHash): ModelUsage[] {
  const models = parseHashPairs(reply).map(([field, count]) => {
    const counted = USAGE_COUNTS[Number(field.slice(0, field.indexOf(' ')))];
    const ofField = (name: keyof TokenUsage): number => (name === counted ? Number(count) : 0);
    return { model: field.slice(field.indexOf(' ') + 1), ...usageWith(ofField) };
  });
  return usageByModel(models);
}

/** Usage that stays pending: its times, then fields and counts, a line each. */
export function usageText(usage: UsageIncrement, now: number): string {
  const lines = usageFields(usage.models).map(([field, count]) => `${field}\n${count}\n`);
  return `${usageTimes(usage, now)}\n${lines.join('')}`;
}

/** For scripts: what is under '' in the sums of users and apps on this day, the first day and the first month that are kept. */
export function usageTimes({ keepMs }: UsageIncrement, now: number): string {
  const day = Math.floor(now / DAY_MS);
  if (latest?.day === day && latest.keepMs === keepMs) return latest.text;
  const firstMonth = periodName('month', Math.max(0, (day - 31) * DAY_MS - keepMs));
  const firstDay = periodName('day', Math.max(0, (day - DAYS_KEPT) * DAY_MS));
  const text = `${headOfUsage((day + 1) * DAY_MS + keepMs, now)}\n${firstDay}\n${firstMonth}`;
  latest = { day, keepMs, text };
  return text;
}

/** Almost all calls are on the same day, and names of days take long to make. */
let latest: { readonly day: number; readonly keepMs: number; readonly text: string } | undefined;

/** What is under '' in sums of users and apps: their expiry, and the day whose counts are not yet in those of its month. */
export function headOfUsage(expiry: number, now: number): string {
  return `${Math.min(expiry, NEVER)} ${periodName('day', now)}`;
}

/**
 * The usage of a user or an app: a hash of counts. What comes before a field is its day or its month. The counts of the current day are
 * added to those of its month when the next day begins, so that most additions change one number each. A script reads a sum once, and writes
 * it once, also if it adds to it several times. Needs TIME.
 */
export const SHARED_USAGE = String.raw`
local timesText, usageTimes

-- What is under '', its day, and the first day and month that are kept.
local function timesOfUsage(times)
  if times ~= timesText then
    local head, day, firstDay, firstMonth = string.match(times, '^(%d+ ([^\n]*))\n([^\n]*)\n([^\n]*)')
    timesText, usageTimes = times, { head = head, day = day, firstDay = firstDay, firstMonth = firstMonth }
  end
  return usageTimes
end

-- By key: alternating names and sums, the place of each sum by name, what is under '', and the times.
local sumsByKey, sumKeys = {}, {}

-- Begins the day, unless it has begun. Returns the month if another day has begun after this one.
local function beginDay(key, stored, times)
  if stored == times.head then return end
  local expiry, before = string.match(stored or '', '^(%d+) (.*)$')
  if expiry and tonumber(expiry) <= now then
    redis.call('UNLINK', key)
    before = nil
  end
  if before == times.day then return end
  if before and times.day < before then return string.sub(times.day, 1, 7) end
  local fields = before and redis.call('HGETALL', key) or {}
  for index = 1, #fields, 2 do
    local period, field = string.match(fields[index], '^([%d-]+) (.*)$')
    if period == before then
      redis.call('HINCRBY', key, string.sub(before, 1, 7) .. ' ' .. field, fields[index + 1])
    end
    if period and period < (#period == 7 and times.firstMonth or times.firstDay) then redis.call('HDEL', key, fields[index]) end
  end
  redis.call('HSET', key, '', times.head)
  expireKeys({ key }, tonumber(string.match(times.head, '^%d+')))
end

-- Writes what was added. Few commands with many fields are faster than one for each field.
local function writeUsage()
  for _, key in ipairs(sumKeys) do
    local sums = sumsByKey[key]
    local month = sums.isChanged and beginDay(key, sums.head, sums.times)
    for index = 1, month and #sums or 0, 2 do
      local added = sums[index + 1] - (redis.call('HGET', key, sums[index]) or 0)
      redis.call('HINCRBY', key, month .. string.sub(sums[index], #sums.times.day + 1), text(added))
    end
    for index = 2, #sums, 2 do sums[index] = text(sums[index]) end
    for first = 1, sums.isChanged and #sums or 0, 2000 do
      redis.call('HSET', key, unpack(sums, first, math.min(first + 1999, #sums)))
    end
  end
  sumsByKey, sumKeys = {}, {}
end

-- Reads the sums that will be added to, unless they are known. Call it before the first write.
local function readUsage(key, usage)
  local sums, names = sumsByKey[key], usage.names
  if sums and sums.times ~= usage.times then
    writeUsage()
    sums = nil
  end
  if sums then
    names = {}
    for _, name in ipairs(usage.names) do
      if not sums.places[name] then names[#names + 1] = name end
    end
  else
    sums = { times = usage.times, places = {} }
    sumsByKey[key], sumKeys[#sumKeys + 1] = sums, key
  end
  for first = 1, #names, 1000 do
    local found = redis.call('HMGET', key, '', unpack(names, first, math.min(first + 999, #names)))
    sums.head = found[1]
    for index = 2, #found do
      local place = #sums + 1
      sums[place], sums[place + 1] = names[first + index - 2], tonumber(found[index] or 0)
      sums.places[sums[place]] = place + 1
    end
  end
end

local function addUsage(key, usage)
  local sums = sumsByKey[key]
  sums.isChanged = true
  for index, name in ipairs(usage.names) do
    local place = sums.places[name]
    sums[place] = sums[place] + usage.added[index]
  end
end
`;
