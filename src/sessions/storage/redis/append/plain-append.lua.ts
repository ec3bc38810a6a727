import { USAGE_OF_TODAY, USAGE_SUMS } from '../script/usage.lua.js';
import { HINT_ARGUMENTS } from './remembered-records.js';

/**
 * Appends whose hint is right: the stored record is the one that the process remembers. So nothing has to be decoded.
 * The others follow with the functions below, in their order; a session has a hint in its first commit only.
 */
export const PLAIN_APPEND = String.raw`
local timeText = text(now)
${USAGE_SUMS}
${USAGE_OF_TODAY}
-- Nil if the hint is missing or wrong.
local function appendPlainly(record, start)
  local remembered, at = ARGV[start + 2], start + 2
  if remembered == '' then return nil end
  local usage = ARGV[at + 13]
  local hasUsage = usage ~= ''
  local stored = hasUsage and redis.call('HMGET', record, 'record', 'turn', 'usage') or redis.call('HMGET', record, 'record', 'turn')
  if stored[1] ~= remembered or stored[2] or now < tonumber(ARGV[at + 5]) then return nil end
  local seq, groupField, isAnchor = ARGV[at + 3], ARGV[at + 10], ARGV[at + 9] == '1'
  local base, encodedId = string.sub(record, 1, -9 - ARGV[at + 11]), string.sub(record, -ARGV[at + 11])
  local ofApp = string.sub(record, 1, -1 - ARGV[at + 12])
  local ids, state, byUpdate = base .. 'ids:' .. encodedId, base .. 'state:' .. encodedId, base .. 'by-update'
  local byUpdateOfApp, anchors = ofApp .. '}:by-update', isAnchor and base .. 'anchors:' .. encodedId
  local firstText = at + ${HINT_ARGUMENTS}
  local id, firstUpsert, lastUpsert = ARGV[firstText + 1], firstText + 3, start + ARGV[start]
  local runs = false
  if groupField == '' then
    if redis.call('HGET', ids, id) then return nil end
  else
    local found = redis.call('HMGET', ids, id, groupField)
    if found[1] then return nil end
    runs = found[2]
  end

  local usageOfUser, usageOfApp = hasUsage and base .. 'usage', hasUsage and ofApp .. '}:usage'
  local todayOfUser = hasUsage and todayWith(usageOfUser, usage)
  local todayOfApp = todayOfUser and todayWith(usageOfApp, usage)
  if hasUsage and not todayOfApp then return nil end

  -- Until the first write, this only reads: each key to be written, so that none has a wrong type.
  if lastUpsert >= firstUpsert then redis.call('HLEN', state) end
  if isAnchor then redis.call('ZCARD', anchors) end
  redis.call('ZCARD', byUpdate)
  redis.call('ZCARD', byUpdateOfApp)
  local water = now >= tonumber(ARGV[at + 4]) and timeText or ARGV[at + 4]
  redis.call('HSET', base .. 'events:' .. encodedId, seq,
    timeText .. '\n' .. water .. '\n' .. ARGV[at + 8] .. '\n' .. id .. '\n' .. ARGV[firstText + 2])
  if groupField == '' then
    redis.call('HSET', ids, id, seq)
  else
    redis.call('HSET', ids, id, seq, groupField, runsWith(runs, seq))
  end
  if isAnchor then redis.call('ZADD', anchors, seq, seq) end
  local after = ARGV[at + 1] .. water .. '\n' .. timeText .. ARGV[at + 2]
  if hasUsage then
    redis.call('HSET', record, 'record', after, 'usage', plusUsage(stored[3], usage))
    redis.call('HSET', usageOfUser, 'today', todayOfUser)
    redis.call('HSET', usageOfApp, 'today', todayOfApp)
  else
    redis.call('HSET', record, 'record', after)
  end
  for first = firstUpsert, lastUpsert, 2000 do
    redis.call('HSET', state, unpack(ARGV, first, math.min(first + 1999, lastUpsert)))
  end
  redis.call('ZADD', byUpdate, timeText, ARGV[at + 6])
  redis.call('ZADD', byUpdateOfApp, timeText, ARGV[at + 7])
  local _, endOfIncarnation = string.find(remembered, '\n', 1, true)
  redis.pcall('PUBLISH', record, string.sub(remembered, 1, endOfIncarnation - 1) .. ' ' .. seq)
  return timeText
end

-- Of several commits, the error of one must not keep the others from being written.
local function outcomeOf(append, record, start)
  if #KEYS == 1 then return append(record, start) end
  local isDone, outcome = pcall(append, record, start)
  if isDone then return outcome end
  return { 'failed' }
end

local replies, others, starts = {}, {}, {}
local start = 2
for index, record in ipairs(KEYS) do
  local reply = outcomeOf(appendPlainly, record, start)
  replies[index], starts[index] = reply or false, start
  if not reply then others[#others + 1] = index end
  start = start + 1 + ARGV[start]
end
if #others == 0 then return replies end
`;
