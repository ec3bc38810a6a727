import { KEY_NAMES } from './key-names.lua.js';
import { RECORD_FIELDS } from './record-fields.lua.js';
import { script } from './script.js';
import { SHARED_STATE } from './shared-state.lua.js';
import { TIME } from './time.lua.js';

/**
 * A page of the sessions of a user or of an app, with their state.
 *
 * KEYS 1 sessions by time, 2 expiring sessions, 3 what the keys of the user begin with, or, for an app, those of all
 *      its users up to the user id; 4 app state (not on a cluster).
 *      The keys of sessions are found through 1, so they cannot be named before.
 * ARGV 1 time, 2 user id ('' = all of the app), 3 desc or asc, 4 limit, 5 offset, 6 time of the session to go on after
 *      ('' = from the beginning), 7 its member, 8 with total (1 or 0).
 * Result: { now, total, app state, { user id, user state } …, { user id, session id, record, state, pending } …, real time }.
 */
export const LIST_SESSIONS = script(
  'list-sessions',
  TIME,
  KEY_NAMES,
  RECORD_FIELDS,
  SHARED_STATE,
  String.raw`
local USER_ID, isBackwards, limit, offset = ARGV[2], ARGV[3] == 'desc', tonumber(ARGV[4]), tonumber(ARGV[5])

-- Lua's own comparison follows the server's locale.
local function compareBytes(a, b)
  for index = 1, math.min(#a, #b) do
    local difference = string.byte(a, index) - string.byte(b, index)
    if difference ~= 0 then return difference end
  end
  return #a - #b
end

-- How many members come before the place to go on after, or are that place.
local function placesBefore(time, member)
  local low = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. time)
  local high = low + redis.call('ZCOUNT', KEYS[1], time, time)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local order = compareBytes(redis.call('ZRANGE', KEYS[1], middle, middle)[1], member)
    if order > 0 or (order == 0 and isBackwards) then high = middle else low = middle + 1 end
  end
  return isBackwards and redis.call('ZCARD', KEYS[1]) - low or low
end

local function keysOf(member)
  if USER_ID ~= '' then return USER_ID, member, KEYS[3] end
  local userId, sessionId = string.match(member, '^(%Z*)%z(%Z*)$')
  return userId, sessionId, KEYS[3] .. '|' .. encode(userId) .. '}:'
end

local sessions, users, knownUsers = {}, {}, {}
local function addSession(member)
  local userId, sessionId, base = keysOf(member)
  local id = encode(sessionId)
  local record = redis.call('HMGET', base .. 'session:' .. id, unpack(FIELDS))
  if not record[1] or tonumber(record[4]) <= now then return end
  local pending = KEYS[4] and {} or redis.call('HGETALL', base .. 'pending:' .. id)
  sessions[#sessions + 1] = { userId, sessionId, record, redis.call('HGETALL', base .. 'state:' .. id), pending }
  if knownUsers[userId] then return end
  knownUsers[userId] = true
  users[#users + 1] = { userId, readState(base .. 'user-state') }
end

local expired = redis.call('ZCOUNT', KEYS[2], '-inf', text(now))
local place = ARGV[6] == '' and 0 or placesBefore(ARGV[6], ARGV[7])
if expired == 0 then
  place = place + offset
  offset = 0
end
while #sessions < limit do
  local last = place + math.min(limit - #sessions + offset, 1000) - 1
  local members = redis.call(isBackwards and 'ZREVRANGE' or 'ZRANGE', KEYS[1], place, last)
  if #members == 0 then break end
  place = last + 1
  local expiries = expired > 0 and redis.call('ZMSCORE', KEYS[2], unpack(members)) or {}
  for index, member in ipairs(members) do
    local isLive = not expiries[index] or tonumber(expiries[index]) > now
    if isLive and offset > 0 then
      offset = offset - 1
    elseif isLive then
      addSession(member)
    end
  end
end

local total = ARGV[8] == '1' and redis.call('ZCARD', KEYS[1]) - expired
return { text(now), total, KEYS[4] and readState(KEYS[4]) or {}, users, sessions, text(wall) }
`,
);
