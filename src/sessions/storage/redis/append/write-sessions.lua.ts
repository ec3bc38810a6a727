import { TIME } from '../script/base.lua.js';
import { recordPattern } from '../script/codec.js';
import { EVENT_RUNS } from '../script/event-groups.lua.js';
import { defineScript } from '../script/script.js';
import { SHARED_USAGE } from '../script/usage.lua.js';
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
 *      1 the record before; 2 user id, NUL, session id; 3 one line: bytes of the encoded session id, bytes of the key of the record from the separator of the
 *      user on ('-' on a cluster), numbers of events, of groups, of counts of usage, of names and values of session state to set, of those to remove, of
 *      partial events, and of arguments for the state as one text (2 or 0), whether there is what few writes have (1 or 0), the time of the update if it changes; in another line the numbers of anchors; 4 the record
 *      after, or '' if it stays; the field of the state and its text if it changes; then number and text of each event; field of the id and number of each; field and new runs of each group; field and number of each
 *      count of usage; state to set, state to remove; of partial events what watchers are told, then number, expiry and text of each; the times of usage; then what few writes
 *      have: a line for app name, user id and session id; RARE_NUMBERS ('-' = none); metadata; messages whose partial events end; of a trim the base state, the first event before and after, and digests; a checkpoint; what stays pending on a cluster;
 *      of user state and app state ttl, renewal threshold, growth, most bytes, the sizes that were counted or '', and writes.
 * Returns the server's time, then for each session 1 if it is written, on a cluster { 1, pending }; { record, state, 1 } if the record or the time is
 *      another one; otherwise a text with the reason.
 */
export const WRITE_SESSIONS = defineScript(
  'write-sessions',
  TIME,
  EVENT_RUNS,
  String.raw`
local ARGV = ARGV
local isOff = ARGV[2] ~= '' and (serverTime < tonumber(ARGV[2]) or serverTime > tonumber(ARGV[3]))

local function isHeldByOther(held)
  local token, untilTime = string.match(held, '^(%S+) (%d+)$')
  return token ~= ARGV[4] and tonumber(untilTime) > serverTime
end

local function getAll(key, fields)
  if #fields <= 4000 then return redis.call('HMGET', key, unpack(fields)) end
  local values = {}
  for from = 1, #fields, 4000 do
    local some = redis.call('HMGET', key, unpack(fields, from, math.min(from + 3999, #fields)))
    for _, value in ipairs(some) do values[#values + 1] = value end
  end
  return values
end

-- The first writes. If a key of another type refuses one, those before it are taken back, which is faster than to look at all
-- types before. Each replies with a number.
local refused
local function begin(...)
  local reply = not refused and redis.pcall(...)
  if type(reply) == 'table' then refused = reply end
end

-- Sets the fields whose names are every second argument. If they are too many for one command, the first ones come last.
local function setAll(key, first, last)
  for from = first + math.floor((last - first) / 2000) * 2000, first, -2000 do
    begin('HSET', key, unpack(ARGV, from, math.min(from + 1999, last)))
  end
end

-- Each run of a script creates its functions again, so those of few writes are created when the first one needs them.
local usageFunctions
local function functionsOfUsage()
  if usageFunctions then return usageFunctions end
  ${SHARED_USAGE}
  usageFunctions = { timesOf = timesOfUsage, read = readUsage, add = addUsage, write = writeUsage }
  return usageFunctions
end

local function writeSession(record, start)
  local stored, member = ARGV[start + 1], ARGV[start + 2]
  local idBytes, tail, events, groups, counts, upserts, removals, partials, ofState, hasMore, updated, anchored =
    string.match(ARGV[start + 3], '^(%d+) ([^ ]*) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d) (%d) ([^\n]*)\n(.*)$')
  events, counts, idBytes = tonumber(events), tonumber(counts), tonumber(idBytes)
  local firstEvent = start + 5 + ofState
  local firstId = firstEvent + 2 * events
  local firstGroup = firstId + 2 * events
  local firstCount = firstGroup + 2 * groups
  local firstUpsert = firstCount + 2 * counts
  local firstRemoval = firstUpsert + upserts
  local following = firstRemoval + removals

  -- Until the first write, this only reads: each key to be written, except where "begin" finds out the type.
  local fields = { 'record', 'held' }
  for index = firstId, firstCount - 1, 2 do fields[#fields + 1] = ARGV[index] end
  local found = getAll(record, fields)
  local held = found[2]
  if found[1] ~= stored or isOff then return { found[1], redis.call('HGET', record, 'state'), 1 } end
  if held and isHeldByOther(held) then return 'held' end
  -- An id above the last one is left from damage.
  for index = 3, 2 + events do
    if found[index] and tonumber(found[index]) < tonumber(ARGV[firstEvent]) then return 'seen' end
  end
  local base, id = string.sub(record, 1, -9 - idBytes), string.sub(record, -idBytes)
  local ofApp = tail ~= '-' and string.sub(record, 1, -1 - tail) .. '}:'
  if not ofApp then redis.call('HLEN', base .. 'pending:' .. id) end
  local news, savePartials, usage, finish
  if partials ~= '0' then
    ${SAVE_PARTIALS}
  end
  if counts > 0 then
    local ofUsage = functionsOfUsage()
    local times = ofUsage.timesOf(ARGV[following])
    usage = { times = times, names = {}, added = {}, user = base .. 'usage', app = ofApp and ofApp .. 'usage' }
    following = following + 1
    for index = 1, counts do
      local place = firstCount + 2 * index - 1
      usage.names[index], usage.added[index] = times.day .. ' ' .. ARGV[place - 1], tonumber(ARGV[place])
    end
    ofUsage.read(usage.user, usage)
    if ofApp then ofUsage.read(usage.app, usage) end
  end
  if hasMore == '1' then
    ${RARE_WRITES}
  end
  for place = firstGroup + 1, firstCount - 1, 2 do
    ARGV[place] = runsPlus(found[2 + events + (place - firstGroup + 1) / 2], ARGV[place])
  end

  local state, byUpdate, byUpdateOfApp = base .. 'state:' .. id, base .. 'by-update', ofApp and ofApp .. 'by-update'
  local name = string.sub(member, string.find(member, '\0', 1, true) + 1)
  if updated ~= '' then
    begin('ZADD', byUpdate, updated, name)
    if ofApp then begin('ZADD', byUpdateOfApp, updated, member) end
  end
  if anchored ~= '' then
    for anchor in string.gmatch(anchored, '%d+') do begin('ZADD', base .. 'anchors:' .. id, anchor, anchor) end
  end
  setAll(state, firstUpsert, firstRemoval - 1)
  for index = firstRemoval, firstRemoval + removals - 1 do begin('HDEL', state, ARGV[index]) end
  -- The record and its events are one command, so none of them is there without the others. Its name takes a place that was read.
  ARGV[start + 3] = 'record'
  if ARGV[start + 4] ~= '' then setAll(record, start + 3, firstCount - 1) end
  if refused then
    local before = string.match(stored, ${recordPattern('updated')})
    if updated ~= '' then redis.pcall('ZADD', byUpdate, before, name) end
    if updated ~= '' and ofApp then redis.pcall('ZADD', byUpdateOfApp, before, member) end
    for anchor in string.gmatch(anchored, '%d+') do redis.pcall('ZREM', base .. 'anchors:' .. id, anchor) end
    local reply = refused
    refused = nil
    error(reply)
  end

  if usage then
    local ofUsage = functionsOfUsage()
    ofUsage.add(usage.user, usage)
    if ofApp then ofUsage.add(usage.app, usage) end
  end
  local seq = ARGV[firstId - 2]
  if finish then finish(seq) end
  if savePartials then savePartials() end
  if held then redis.call('HDEL', record, 'held') end
  if events > 0 then news = news or string.sub(stored, 1, string.find(stored, '\n', 1, true) - 1) .. ' ' .. seq end
  if news then redis.pcall(ofApp and 'PUBLISH' or 'SPUBLISH', record, news) end
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
if usageFunctions then usageFunctions.write() end
return replies
`,
);
