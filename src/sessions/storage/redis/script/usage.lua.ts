import { DAY_MS, NEVER } from '../../../domain/expiry.js';
import { DAYS_KEPT, type UsageIncrement, periodName } from '../../../domain/usage-periods.js';
import { type ModelUsage, type TokenUsage, USAGE_COUNTS, usageByModel, usageWith } from '../../../domain/usage.js';
import { type FlatHash, pairsOf } from './codec.js';

/** In the hash of a session's record, what comes before a count of usage. */
export const SESSION_USAGE = '+';

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
  const models = pairsOf(reply).map(([field, count]) => {
    const counted = USAGE_COUNTS[Number(field.slice(0, field.indexOf(' ')))];
    const ofField = (name: keyof TokenUsage): number => (name === counted ? Number(count) : 0);
    return { model: field.slice(field.indexOf(' ') + 1), ...usageWith(ofField) };
  });
  return usageByModel(models);
}

/**
 * Usage for scripts: what is under '' in the sums of users and apps on this day, the first day and the first month that are kept, and
 * then fields and counts, a line each.
 */
export function usageArgument({ models, keepMs }: UsageIncrement, now: number): string {
  const lines = usageFields(models).map(([field, count]) => `${field}\n${count}\n`);
  return `${dayArgument(now, keepMs)}\n${lines.join('')}`;
}

function dayArgument(now: number, keepMs: number): string {
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

/** Reads the counts of a session. */
export const USAGE_OF_SESSION = String.raw`
local function usageFieldsOf(record)
  local fields = {}
  for _, name in ipairs(redis.call('HKEYS', record)) do
    if string.sub(name, 1, 1) == '${SESSION_USAGE}' then fields[#fields + 1] = name end
  end
  return fields
end
`;

/**
 * The usage of a user or an app: a hash of counts. What comes before a field is its day or its month. The counts of the current day are
 * added to those of its month when the next day begins, so that most additions change one number each. Needs TIME.
 */
export const SHARED_USAGE = String.raw`
local function partsOfUsage(usage)
  local head, firstDay, firstMonth, counts = string.match(usage, '^([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$')
  local fields, added = {}, {}
  for field, count in string.gmatch(counts, '([^\n]*)\n([^\n]*)\n') do
    fields[#fields + 1], added[#added + 1] = field, count
  end
  return { head = head, firstDay = firstDay, firstMonth = firstMonth, fields = fields, added = added, day = string.match(head, ' (.*)$') }
end

-- What is under '', and the sums after the addition. Few commands with many fields are faster than one for each field.
local function readSums(key, prefix, usage)
  local sums, head = {}, nil
  for first = 1, #usage.fields, 1000 do
    local names = { '' }
    for index = first, math.min(first + 999, #usage.fields) do names[#names + 1] = prefix .. usage.fields[index] end
    local found = redis.call('HMGET', key, unpack(names))
    head = found[1]
    for index = 2, #names do
      sums[#sums + 1] = names[index]
      sums[#sums + 1] = text((found[index] or 0) + usage.added[first + index - 2])
    end
  end
  return { head = head, sums = sums }
end

local function writeSums(key, read)
  for first = 1, #read.sums, 2000 do
    redis.call('HSET', key, unpack(read.sums, first, math.min(first + 1999, #read.sums)))
  end
end

-- Begins the day, unless it has begun. Returns the month if another day has begun after this one.
local function beginDay(key, stored, usage)
  if stored == usage.head then return end
  local expiry, before = string.match(stored or '', '^(%d+) (.*)$')
  if expiry and tonumber(expiry) <= now then
    redis.call('UNLINK', key)
    before = nil
  end
  if before == usage.day then return end
  if before and usage.day < before then return string.sub(usage.day, 1, 7) end
  local fields = before and redis.call('HGETALL', key) or {}
  for index = 1, #fields, 2 do
    local period, field = string.match(fields[index], '^([%d-]+) (.*)$')
    if period == before then
      redis.call('HINCRBY', key, string.sub(before, 1, 7) .. ' ' .. field, fields[index + 1])
    end
    if period and period < (#period == 7 and usage.firstMonth or usage.firstDay) then redis.call('HDEL', key, fields[index]) end
  end
  redis.call('HSET', key, '', usage.head)
  expireKeys({ key }, tonumber(string.match(usage.head, '^%d+')))
end

-- Pass what readSums returned before the first write.
local function addShared(key, read, usage)
  local month = beginDay(key, read.head, usage)
  writeSums(key, read)
  for index = 1, month and #usage.fields or 0 do
    redis.call('HINCRBY', key, month .. ' ' .. usage.fields[index], usage.added[index])
  end
end
`;
