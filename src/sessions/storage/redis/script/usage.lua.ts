import { DAYS_KEPT } from '../../../domain/usage-periods.js';
import { type ModelUsage, USAGE_COUNTS, usageByModel, usageWith } from '../../../domain/usage.js';
import type { UsageIncrement } from '../../../domain/usage-periods.js';

/** Usage for scripts: how long it is kept, then of each model its counts and its name. */
export function usageArgument({ models, keepMs }: UsageIncrement): object {
  return { keep: keepMs, models: models.map((usage) => [...USAGE_COUNTS.map((name) => usage[name]), usage.model]) };
}

/** Decodes sums: lines with counts and the name of a model. A model may have several. */
export function usageOfText(text: string): ModelUsage[] {
  if (text === '') return [];
  const lines = text.split('\n').map((line) => {
    const fields = line.split(' ');
    const model = fields.slice(USAGE_COUNTS.length).join(' ');
    return { model, ...usageWith((name) => Number(fields[USAGE_COUNTS.indexOf(name)])) };
  });
  return usageByModel(lines);
}

/** Sums as one text. Needs TIME. */
export const USAGE_SUMS = String.raw`
local COUNTS = ${USAGE_COUNTS.length}
local LINE = '^' .. string.rep('(%d+) ', COUNTS) .. '(.*)$'

-- Of each model a table: its counts, then its name.
local function usageOf(stored)
  local models = {}
  for line in string.gmatch(stored or '', '[^\n]+') do models[#models + 1] = { string.match(line, LINE) } end
  return models
end

-- The text with the usage of these models added.
local function usageText(stored, added)
  local sums = usageOf(stored)
  for _, usage in ipairs(added) do
    local name, sum = usage[COUNTS + 1], nil
    for _, other in ipairs(sums) do
      if other[COUNTS + 1] == name then sum = other end
    end
    if not sum then
      sum = { [COUNTS + 1] = name }
      for index = 1, COUNTS do sum[index] = '0' end
      sums[#sums + 1] = sum
    end
    for index = 1, COUNTS do
      local more = tonumber(usage[index])
      if more > 0 then sum[index] = text(tonumber(sum[index]) + more) end
    end
  end
  for index, sum in ipairs(sums) do sums[index] = table.concat(sum, ' ') end
  return table.concat(sums, '\n')
end
`;

/** Names of UTC days and months, as in the domain. Needs TIME. */
export const USAGE_PERIODS = String.raw`
local DAY_MS = 86400000

-- The Gregorian calendar repeats after 400 years. A year begins in March here, so that a leap day is its last.
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
  local name = dayName(math.floor(now / DAY_MS))
  if period == 'day' then return name end
  return period == 'month' and string.sub(name, 1, 7) or period
end
`;

/**
 * The usage of a user or an app: a hash with the sums of months and days that are over, those of the current day under
 * 'today', and expiry and number of that day under ''. So most additions change one short text. Needs TIME, USAGE_SUMS and
 * USAGE_PERIODS.
 */
export const SHARED_USAGE = String.raw`
-- Reads what an addition needs, before the first write. Returns the addition.
local function sharedUsage(key, usage)
  local today = math.floor(now / DAY_MS)
  local head, current = unpack(redis.call('HMGET', key, '', 'today'))
  local expiry, day = string.match(head or '', '^(%d+) (%d+)$')
  local isGone = expiry and tonumber(expiry) <= now
  day = tonumber(day)
  if day and not isGone and today <= day then
    local sums = usageText(current, usage.models)
    return function() redis.call('HSET', key, 'today', sums) end
  end

  local ended = day and not isGone and dayName(day)
  local month = ended and string.sub(ended, 1, 7)
  local ofMonth = ended and usageText(redis.call('HGET', key, month), usageOf(current))
  local sums = usageText('', usage.models)
  return function()
    if isGone then redis.call('UNLINK', key) end
    if ended then redis.call('HSET', key, ended, current, month, ofMonth) end
    local newExpiry = math.min((today + 1) * DAY_MS + usage.keep, NEVER)
    redis.call('HSET', key, '', text(newExpiry) .. ' ' .. text(today), 'today', sums)
    expireKeys({ key }, newExpiry)
    local firstDay = dayName(today - ${DAYS_KEPT})
    local firstMonth = string.sub(dayName(math.max(0, today - 31 - math.floor(usage.keep / DAY_MS))), 1, 7)
    for _, name in ipairs(redis.call('HKEYS', key)) do
      if (#name == 10 and name < firstDay) or (#name == 7 and name < firstMonth) then redis.call('HDEL', key, name) end
    end
  end
end
`;
