/**
 * What the scripts that list sessions share. Needs TIME, ENCODE_ID, RECORD_FIELDS and SHARED_STATE.
 *
 * KEYS 1 by update, 2 by creation, 3 expiring, 4 by entry: the sessions of the user or the app; 5 prefix of the user's keys,
 *      or for an app the prefix that the keys of all its users share; 6 app state (not on a cluster).
 *      The script finds the keys of sessions through the indexes, so the caller cannot name them.
 * ARGV 1 time, 2 user id ('' = the whole app), 3 desc or asc, 4 limit, 5 time of the cursor ('' = from the start), 6 member
 *      of the cursor, 7 with state (1 or 0), 8 by creation (1) or by update (0).
 *
 * `reply` returns { now, total, app state, { user id, user state } …, { user id, session id, record, state, pending, metadata
 * or nothing } …, server time, { time, member } of the last session that was examined, or nothing }.
 */
export const LISTED_SESSIONS = String.raw`
local USER_ID, isBackwards, limit = ARGV[2], ARGV[3] == 'desc', tonumber(ARGV[4])
local CURSOR_TIME, CURSOR_MEMBER, withState, isByCreation = ARGV[5], ARGV[6], ARGV[7] == '1', ARGV[8] == '1'
local BASE, APP_STATE = KEYS[5], KEYS[6]
-- The sessions in the order of the list.
local SORTED = isByCreation and KEYS[2] or KEYS[1]

-- Lua's own comparison follows the server's locale.
local function compareBytes(a, b)
  for index = 1, math.min(#a, #b) do
    local difference = string.byte(a, index) - string.byte(b, index)
    if difference ~= 0 then return difference end
  end
  return #a - #b
end

-- The rank of the first member after the cursor, by binary search.
local function placesBefore(time, member)
  local low = redis.call('ZCOUNT', SORTED, '-inf', '(' .. time)
  local high = low + redis.call('ZCOUNT', SORTED, time, time)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local order = compareBytes(redis.call('ZRANGE', SORTED, middle, middle)[1], member)
    if order > 0 or (order == 0 and isBackwards) then high = middle else low = middle + 1 end
  end
  return isBackwards and redis.call('ZCARD', SORTED) - low or low
end

local function keysOf(member)
  if USER_ID ~= '' then return USER_ID, member, BASE end
  local userId, sessionId = string.match(member, '^(%Z*)%z(%Z*)$')
  return userId, sessionId, BASE .. '|' .. encode(userId) .. '}:'
end

local sessions, users, knownUsers = {}, {}, {}
local function addSession(member)
  local userId, sessionId, base = keysOf(member)
  local id = encode(sessionId)
  local record = redis.call('HMGET', base .. 'session:' .. id, unpack(FIELDS))
  if not record[1] or tonumber(record[4]) <= now then return end
  local pending = APP_STATE and {} or redis.call('HGETALL', base .. 'pending:' .. id)
  local state = withState and redis.call('HGETALL', base .. 'state:' .. id) or {}
  local metadata = redis.call('HGET', base .. 'session:' .. id, 'metadata')
  sessions[#sessions + 1] = { userId, sessionId, record, state, pending, metadata }
  if not withState or knownUsers[userId] then return end
  knownUsers[userId] = true
  users[#users + 1] = { userId, readState(base .. 'user-state') }
end

local function reply(total, examinedTo)
  local appState = withState and APP_STATE and readState(APP_STATE) or {}
  return { text(now), total, appState, users, sessions, text(serverTime), examinedTo }
end
`;
