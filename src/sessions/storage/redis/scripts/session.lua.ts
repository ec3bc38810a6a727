import { RECORD_FIELDS } from './record-fields.lua.js';

/**
 * What the scripts of one session have in common. Needs TIME; holds RECORD_FIELDS.
 *
 * KEYS 1 record, 2 events, 3 ids, 4 anchors, 5 state, 6 pending, of the session;
 *      7 user state; 8 by update, 9 by creation, 10 expiring: the user's sessions;
 *      and, only where all keys are on one node:
 *      11 app state; 12 by update, 13 by creation, 14 expiring: the app's sessions; 15 users of the app; 16 apps.
 * ARGV 1 time, 2 session id, 3 user id, 4 app name.
 *
 * On a cluster the keys of the app belong to another slot. What is to be written there is kept as pending
 * with the session, in the same script, and applied by another one.
 */
export const SESSION =
  RECORD_FIELDS +
  String.raw`
local RECORD, EVENTS, IDS, ANCHORS, STATE, PENDING = unpack(KEYS, 1, 6)
local OWN_KEYS = { unpack(KEYS, 1, 6) }
local USER_STATE = KEYS[7]
local APP_STATE, USERS, APPS = KEYS[11], KEYS[15], KEYS[16]
local SESSION_ID, USER_ID, APP_NAME = ARGV[2], ARGV[3], ARGV[4]

-- No id holds U+0000, and nothing sorts before it, so the app's sessions sort by user id, then session id.
local INDEXES = { { by = { unpack(KEYS, 8, 10) }, member = SESSION_ID } }
if APP_STATE then
  INDEXES[2] = { by = { unpack(KEYS, 12, 14) }, member = USER_ID .. '\0' .. SESSION_ID }
end

local function readRecord()
  return redis.call('HMGET', RECORD, unpack(FIELDS))
end

-- The record by names, with its numbers as such; nothing where there is no session, or none any more.
local function liveRecord()
  local values = readRecord()
  if not values[1] or tonumber(values[4]) <= now then return nil end
  local record = { incarnation = values[1] }
  for index = 2, 12 do record[FIELDS[index]] = tonumber(values[index]) end
  record.marks = tonumber(values[16])
  record.summary = tonumber(values[15])
  record.viewFrom = tonumber(values[14])
  return record
end

-- An index lives as long as the member that lives longest, for ever if one does.
local function keepIndexAlive(by)
  if redis.call('ZCARD', by[1]) > redis.call('ZCARD', by[3]) then
    expireKeys(by, NEVER)
  else
    local latest = redis.call('ZRANGE', by[3], -1, -1, 'WITHSCORES')[2]
    if latest then expireKeys(by, tonumber(latest)) end
  end
end

-- Given whatever of it changed.
local function indexSession(updated, created, expiry, previousExpiry)
  for _, index in ipairs(INDEXES) do
    if updated then redis.call('ZADD', index.by[1], text(updated), index.member) end
    if created then redis.call('ZADD', index.by[2], text(created), index.member) end
    if expiry and expiry < NEVER then
      redis.call('ZADD', index.by[3], text(expiry), index.member)
    elseif expiry and previousExpiry and previousExpiry < NEVER then
      redis.call('ZREM', index.by[3], index.member)
    end
    if created or (expiry and math.min(expiry, previousExpiry or NEVER) < NEVER) then keepIndexAlive(index.by) end
  end
end

local function removeSession()
  redis.call('UNLINK', unpack(OWN_KEYS))
  for _, index in ipairs(INDEXES) do
    for _, key in ipairs(index.by) do redis.call('ZREM', key, index.member) end
    keepIndexAlive(index.by)
  end
end

-- All keys of a session go together.
local function expireSession(expiry, previousExpiry)
  if expiry < NEVER or (previousExpiry or NEVER) < NEVER then expireKeys(OWN_KEYS, expiry) end
end

-- Tells who watches: the incarnation, and the number that the log has reached, if it is still there. What is written is
-- written, so no refusal matters. On a cluster the channel lies in the session's slot, and no other node hears of it.
local function announce(message)
  redis.pcall(APP_STATE and 'PUBLISH' or 'SPUBLISH', RECORD, message)
end

local function pendingWrites()
  return redis.call('HGETALL', PENDING)
end
`;

/**
 * Makes the app and the user known to those who look for them by app: lists on a cluster, and whoever clears
 * away. Needs SESSION and REGISTRY.
 *
 * The record keeps until when the user is known; twice as long as the session lives, so that on a cluster
 * hardly any append has to see to it.
 */
export const SESSION_REGISTRATION = String.raw`
local function leaveRegistration(due, untilTime)
  local left = redis.call('HGET', PENDING, 'register')
  if left then
    local leftDue, leftUntil = string.match(left, '(%d+) (%d+)')
    due = math.min(due, tonumber(leftDue))
    untilTime = math.max(untilTime, tonumber(leftUntil))
  end
  redis.call('HSET', PENDING, 'register', text(due) .. ' ' .. text(untilTime))
  redis.call('HSET', RECORD, 'known', text(untilTime))
end

-- userDue and appDue: when shared state expires that is new, or expires earlier than before.
local function register(expiry, previousExpiry, userDue, appDue)
  local due = math.min(expiry, userDue or NEVER)
  if APP_STATE then
    if expiry ~= previousExpiry or userDue then registerUser(USERS, USER_ID, due, math.max(expiry, userDue or 0)) end
    if expiry ~= previousExpiry or userDue or appDue then
      registerApp(APPS, APP_NAME, math.max(expiry, userDue or 0, appDue or 0))
    end
    return
  end
  local known = tonumber(redis.call('HGET', RECORD, 'known')) or 0
  if not previousExpiry or expiry > known or expiry < previousExpiry or userDue then
    leaveRegistration(due, math.max(expiresAt(2 * (expiry - now)), known, userDue or 0))
  end
end
`;
