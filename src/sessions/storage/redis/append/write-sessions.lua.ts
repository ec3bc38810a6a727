import { TIME } from '../script/base.lua.js';
import { recordPattern } from '../script/codec.js';
import { EVENT_RUNS } from '../script/event-groups.lua.js';
import { defineScript } from '../script/script.js';
import { SESSION_USAGE, SHARED_USAGE } from '../script/usage.lua.js';
import { SAVE_PARTIALS } from './partial-writes.lua.js';
import { RARE_WRITES } from './rare-writes.lua.js';

/**
 * Writes to sessions what is planned, each session by itself: if its record is still the one that the plan relied on, if its log has none of the
 * events, and if the time fits. It decides nothing else.
 *
 * KEYS the record of each session. The script makes the other keys out of that one, which is faster than to pass them. On a cluster
 *      they are in the same slot.
 * ARGV 1 time; 2–3 the server's time when it may write, from and to ('' = at any time); 4 the token of the caller who holds the session, or '';
 *      then for each session: the number of its arguments, then
 *      1 the record before; 2 the record after, or '' if it stays; 3 one line: bytes of the encoded session id, bytes of the key of the record from the separator of the
 *      user on ('-' on a cluster), numbers of events, of groups, of names and values of session state to set, of those to remove, and of partial events, whether there is
 *      usage and what few writes have (1 or 0), the time of the update if it changes; in another line the numbers of anchors; 4 user id, NUL, session id;
 *      then number and text of each event; id and number of each; field and new runs of each group; state to set, state to remove; of partial events what watchers are told, then number, expiry and text of each; usage; then what few writes
 *      have: a line for app name, user id and session id; RARE_NUMBERS ('-' = none); metadata; messages whose partial events end; of a trim the base state, the first event before and after, and digests; a checkpoint; what stays pending on a cluster;
 *      of user state and app state ttl, renewal threshold, growth, most bytes, the sizes that were counted or '', and writes.
 * Returns the server's time, then for each session 1 if it is written, on a cluster { 1, pending }; { record } if the record or the time is
 *      another one; otherwise a text with the reason.
 */
export const WRITE_SESSIONS = defineScript(
  'write-sessions',
  TIME,
  EVENT_RUNS,
  String.raw`
local isOff = ARGV[2] ~= '' and (serverTime < tonumber(ARGV[2]) or serverTime > tonumber(ARGV[3]))

local function isHeldByOther(held)
  local token, untilTime = string.match(held, '^(%S+) (%d+)$')
  return token ~= ARGV[4] and tonumber(untilTime) > serverTime
end

local function setAll(key, first, last)
  for from = first, last, 2000 do redis.call('HSET', key, unpack(ARGV, from, math.min(from + 1999, last))) end
end

-- The values of the fields whose names are every second argument.
local function getAll(key, first, last)
  local values = {}
  for from = first, last, 4000 do
    local fields = {}
    for index = from, math.min(from + 3999, last), 2 do fields[#fields + 1] = ARGV[index] end
    for _, value in ipairs(redis.call('HMGET', key, unpack(fields))) do values[#values + 1] = value end
  end
  return values
end

local function writeSession(record, start)
  local stored, held = unpack(redis.call('HMGET', record, 'record', 'held'))
  if stored ~= ARGV[start + 1] or isOff then return { stored } end
  if held and isHeldByOther(held) then return 'held' end
  local idBytes, tail, events, groups, upserts, removals, partials, hasUsage, hasMore, updated, anchored =
    string.match(ARGV[start + 3], '^(%d+) ([^ ]*) (%d+) (%d+) (%d+) (%d+) (%d+) (%d) (%d) ([^\n]*)\n(.*)$')
  local base, id = string.sub(record, 1, -9 - idBytes), string.sub(record, -idBytes)
  local ofApp = tail ~= '-' and string.sub(record, 1, -1 - tail) .. '}:'
  local ids, state, anchors = base .. 'ids:' .. id, base .. 'state:' .. id, base .. 'anchors:' .. id
  local firstEvent = start + 5
  local firstId = firstEvent + 2 * events
  local firstGroup = firstId + 2 * events
  local firstUpsert = firstGroup + 2 * groups
  local firstRemoval = firstUpsert + upserts
  local following = firstRemoval + removals

  -- Until the first write, this only reads: each key to be written, so that none has a wrong type.
  local runs
  if firstUpsert > firstId then
    local found, firstSeq = getAll(ids, firstId, firstUpsert - 1), tonumber(ARGV[firstEvent])
    -- An id above the last one was left by a script that Redis stopped half way, for example for a missing permission.
    for index = 1, events do
      if found[index] and tonumber(found[index]) < firstSeq then return 'seen' end
    end
    runs = found
  end
  if anchored ~= '' then redis.call('ZCARD', anchors) end
  if not ofApp then redis.call('HLEN', base .. 'pending:' .. id) end
  local news, savePartials, addUsage, finish
  if partials ~= '0' then
    ${SAVE_PARTIALS}
  end
  if hasUsage == '1' then
    ${SHARED_USAGE}
    local usage, user, app = partsOfUsage(ARGV[following]), base .. 'usage', ofApp and ofApp .. 'usage'
    following = following + 1
    local ofSession, ofUser = readSums(record, '${SESSION_USAGE}', usage), readSums(user, usage.day .. ' ', usage)
    local ofAppUsage = app and readSums(app, usage.day .. ' ', usage)
    addUsage = function()
      writeSums(record, ofSession)
      addShared(user, ofUser, usage)
      if app then addShared(app, ofAppUsage, usage) end
    end
  end
  if hasMore == '1' then
    ${RARE_WRITES}
  end

  -- The first writes. One that finds a key of another type takes back the others, which is faster than to look before. The record
  -- comes last: without it, nobody finds the events.
  local eventsKey, byUpdate, byUpdateOfApp = base .. 'events:' .. id, base .. 'by-update', ofApp and ofApp .. 'by-update'
  local member = ARGV[start + 4]
  local name = string.match(member, '%z(.*)$')
  local function begin(...)
    local reply = redis.pcall(...)
    if type(reply) ~= 'table' or not reply.err then return end
    for index = firstEvent, firstId - 1, 2 do redis.pcall('HDEL', eventsKey, ARGV[index]) end
    local before = string.match(stored, ${recordPattern('updated')})
    if updated ~= '' then redis.pcall('ZADD', byUpdate, before, name) end
    if updated ~= '' and ofApp then redis.pcall('ZADD', byUpdateOfApp, before, member) end
    redis.call(...)
  end
  setAll(eventsKey, firstEvent, firstId - 1)
  if updated ~= '' then
    begin('ZADD', byUpdate, updated, name)
    if ofApp then begin('ZADD', byUpdateOfApp, updated, member) end
  end
  for first = firstUpsert, firstRemoval - 1, 2000 do
    begin('HSET', state, unpack(ARGV, first, math.min(first + 1999, firstRemoval - 1)))
  end
  for index = firstRemoval, firstRemoval + removals - 1 do begin('HDEL', state, ARGV[index]) end

  local seq = ARGV[firstId - 2]
  if groups == '1' and events == '1' then
    local run = runsPlus(runs[2], ARGV[firstGroup + 1])
    redis.call('HSET', ids, ARGV[firstId], ARGV[firstId + 1], ARGV[firstGroup], run)
  else
    setAll(ids, firstId, firstGroup - 1)
    for index = 1, groups do
      local place = firstGroup + 2 * index - 2
      redis.call('HSET', ids, ARGV[place], runsPlus(runs[events + index], ARGV[place + 1]))
    end
  end
  for anchor in string.gmatch(anchored, '%d+') do redis.call('ZADD', anchors, anchor, anchor) end
  if addUsage then addUsage() end
  if finish then finish(seq) end
  if savePartials then savePartials() end
  if ARGV[start + 2] ~= '' then redis.call('HSET', record, 'record', ARGV[start + 2]) end
  if held then redis.call('HDEL', record, 'held') end
  if news or firstId > firstEvent then
    redis.pcall(ofApp and 'PUBLISH' or 'SPUBLISH', record, news or string.match(stored, '^[^\n]*') .. ' ' .. seq)
  end
  return ofApp and 1 or { 1, redis.call('HGETALL', base .. 'pending:' .. id) }
end

-- Of several sessions, the error of one must not keep the others from being written.
local function outcomeOf(record, start)
  if #KEYS == 1 then return writeSession(record, start) end
  local isDone, outcome = pcall(writeSession, record, start)
  return isDone and outcome or 'failed'
end

-- Exact, so that what is planned next is not earlier than it has to be.
local replies, start = { text(serverTime) .. string.format('.%03d', microseconds) }, 5
for index, record in ipairs(KEYS) do
  replies[index + 1] = outcomeOf(record, start)
  start = start + 1 + ARGV[start]
end
return replies
`,
);
