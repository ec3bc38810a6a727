import { DAYS_KEPT } from '../../../domain/usage-periods.js';
import { type ModelUsage, USAGE_COUNTS, usageByModel, usageWith } from '../../../domain/usage.js';
import type { UsageIncrement } from '../../../domain/usage-periods.js';

/** Usage for scripts: how long it is kept, then a line for each model, as in sums. */
export function usageArgument({ models, keepMs }: UsageIncrement): string {
  return [keepMs, ...models.map(usageLine)].join('\n');
}

/** The counts, then the name of the model. */
export function usageLine({ model, ...counts }: ModelUsage): string {
  return `${USAGE_COUNTS.map((name) => counts[name]).join(' ')} ${model}`;
}

/** Decodes sums: lines with counts and the name of a model. A model may have several. */
export function usageOfText(text: string): ModelUsage[] {
  // A day without usage has no lines.
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const fields = line.split(' ');
      const model = fields.slice(USAGE_COUNTS.length).join(' ');
      return { model, ...usageWith((name) => Number(fields[USAGE_COUNTS.indexOf(name)])) };
    });
  return usageByModel(lines);
}

/** Names of the counts of a line, and where the name of its model begins. */
const COUNTS = USAGE_COUNTS.map((_, index) => `count${index}`).join(', ');
const ADDED = USAGE_COUNTS.map((_, index) => `added${index}`).join(', ');
const PLUS_ADDED = USAGE_COUNTS.map((_, index) => `count${index} + added${index}`).join(', ');
const LINE_PATTERN = `'^${'(%d+) '.repeat(USAGE_COUNTS.length)}()'`;
const LINE_FORMAT = `'${'%.0f '.repeat(USAGE_COUNTS.length)}'`;

/** Adds to sums, which are one text. */
export const USAGE_SUMS = String.raw`
-- Sums, with another line added to that of its model.
local function plusUsage(sums, line)
  if not sums or sums == '' then return line end
  local ${ADDED}, ofModel = string.match(line, ${LINE_PATTERN})
  local model, from = string.sub(line, ofModel), 1
  while from <= #sums do
    local ${COUNTS}, name = string.match(sums, ${LINE_PATTERN}, from)
    local stop = string.find(sums, '\n', name, true) or #sums + 1
    if string.sub(sums, name, stop - 1) == model then
      return string.sub(sums, 1, from - 1) .. string.format(${LINE_FORMAT}, ${PLUS_ADDED}) .. string.sub(sums, name)
    end
    from = stop + 1
  end
  return sums .. '\n' .. line
end
`;

/** Adds many lines. Needs USAGE_SUMS. */
const MANY_LINES = String.raw`
local function plusLines(sums, lines)
  for line in string.gmatch(lines or '', '[^\n]+') do sums = plusUsage(sums, line) end
  return sums
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
 * USAGE_PERIODS. `usage` is what usageArgument makes.
 */
export const SHARED_USAGE =
  MANY_LINES +
  String.raw`
-- Reads what an addition needs, before the first write. Returns the addition.
local function sharedUsage(key, usage)
  local keep, lines = string.match(usage, '^(%d+)\n(.*)$')
  local today = math.floor(now / DAY_MS)
  local head, current = unpack(redis.call('HMGET', key, '', 'today'))
  local expiry, day = string.match(head or '', '^(%d+) (%d+)$')
  local isGone = expiry and tonumber(expiry) <= now
  day = tonumber(day)
  if day and not isGone and today <= day then
    local sums = plusLines(current, lines)
    return function() redis.call('HSET', key, 'today', sums) end
  end

  local ended = day and not isGone and dayName(day)
  local month = ended and string.sub(ended, 1, 7)
  local ofMonth = ended and plusLines(redis.call('HGET', key, month), current)
  local sums = plusLines('', lines)
  return function()
    if isGone then redis.call('UNLINK', key) end
    if ended then redis.call('HSET', key, ended, current, month, ofMonth) end
    local newExpiry = math.min((today + 1) * DAY_MS + keep, NEVER)
    redis.call('HSET', key, '', text(newExpiry) .. ' ' .. text(today), 'today', sums)
    expireKeys({ key }, newExpiry)
    local firstDay = dayName(today - ${DAYS_KEPT})
    local firstMonth = string.sub(dayName(math.max(0, today - 31 - math.floor(keep / DAY_MS))), 1, 7)
    for _, name in ipairs(redis.call('HKEYS', key)) do
      if (#name == 10 and name < firstDay) or (#name == 7 and name < firstMonth) then redis.call('HDEL', key, name) end
    end
  end
end
`;

/** Adds to a day that has begun and changes one field, as nearly all additions do. Needs TIME and USAGE_SUMS. */
export const USAGE_OF_TODAY = String.raw`
-- The sums of the current day with a line added; nil if no sums of this day are stored.
local function todayWith(key, line)
  local head, current = unpack(redis.call('HMGET', key, '', 'today'))
  local expiry, day = string.match(head or '', '^(%d+) (%d+)$')
  if not day or tonumber(expiry) <= now or tonumber(day) < math.floor(now / 86400000) then return nil end
  return plusUsage(current, line)
end
`;
