import { COMPARE_BYTES, ENCODE_ID, TIME } from '../script/base.lua.js';
import { READABLE_RECORD, recordPattern } from '../script/codec.js';
import { defineScript } from '../script/script.js';
import { OWN_STATE } from '../script/session.lua.js';
import { SHARED_STATE, STATE_BYTES } from '../script/shared-state.lua.js';

/** A Lua pattern that captures when a record expires. */
const EXPIRES = recordPattern('expires');

/**
 * What the scripts that list sessions share. Needs TIME, ENCODE_ID, SHARED_STATE, STATE_BYTES and OWN_STATE.
 *
 * KEYS 1 by update, 2 by creation, 3 expiring, 4 by entry: the sessions of the user or the app; 5 prefix of the user's keys,
 *      or for an app the prefix that the keys of all its users share; 6 app state (not on a cluster).
 *      The script finds the keys of sessions through the indexes, so the caller cannot name them.
 * ARGV 1 time, 2 user id ('' = the whole app), 3 desc or asc, 4 limit, 5 time of the cursor ('' = from the start), 6 member
 *      of the cursor, 7 with state (1 or 0), 8 by creation (1) or by update (0), 9 maximum bytes ('' = none),
 *      10–12 most bytes of session state, user state and app state ('' = any), 13 whether to check all of each record (1), or only
 *      when it expires (0).
 *
 * `reply` returns { now, total, app state, { user id, user state } …, { user id, session id, record, state as one text or key by key, pending, metadata
 * or nothing } …, server time, { time, member } of the last session that was examined or
 * nothing, 1 if the page ended early, { user id, session id } of those whose record is damaged, { scope, user id, session id,
 * bytes } of state that is too large or nothing }.
 */
const LISTED_SESSIONS = String.raw`
local USER_ID, isBackwards, limit = ARGV[2], ARGV[3] == 'desc', tonumber(ARGV[4])
local CURSOR_TIME, CURSOR_MEMBER, withState, isByCreation = ARGV[5], ARGV[6], ARGV[7] == '1', ARGV[8] == '1'
local EXPIRES = ARGV[13] == '1' and ${READABLE_RECORD} or ${EXPIRES}
local BASE, APP_STATE, maxBytes = KEYS[5], KEYS[6], tonumber(ARGV[9]) or math.huge
-- The sessions in the order of the list.
local SORTED = isByCreation and KEYS[2] or KEYS[1]

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

local function sizeOf(values)
  local size = 0
  for index = 1, #values do size = size + #values[index] end
  return size
end

local sessionMost, userMost, appMost = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local appState = withState and APP_STATE and readState(APP_STATE) or {}
local sessions, users, damaged, sizes, bytes, isCut, excess = {}, {}, {}, {}, 0, false, false
local sizeOfApp, bytesOfApp = sizeOf(appState), bytesOfState(appState)

-- Ends the page if the state is too large.
local function expectReadable(found, most, scope, userId, sessionId)
  if most and found > most then excess = { scope, userId, sessionId, text(found) } end
end

local function sizeOfUser(userId, base)
  if not sizes[userId] then
    local state = readState(base .. 'user-state')
    users[#users + 1] = { userId, state }
    sizes[userId] = sizeOf(state)
    expectReadable(bytesOfState(state), userMost, 'user', userId, '')
  end
  return sizes[userId]
end

-- Whether the page has enough sessions.
local function isFull()
  return excess or isCut or #sessions >= limit
end

local function addSession(member)
  local userId, sessionId, base = keysOf(member)
  local id = encode(sessionId)
  local record, metadata, ownState = unpack(redis.call('HMGET', base .. 'session:' .. id, 'record', 'metadata', 'state'))
  if not record then return end
  local expires = tonumber(string.match(record, EXPIRES))
  if not expires then damaged[#damaged + 1] = { userId, sessionId } end
  if not expires or expires <= now then return end
  local pending = APP_STATE and {} or redis.call('HGETALL', base .. 'pending:' .. id)
  local state = {}
  if withState then
    expectReadable(bytesOfApp, appMost, 'app', userId, sessionId)
    state = textOfState(ownState)
    if not state and sessionMost and (tonumber(string.match(record, ${recordPattern('stateBytes')})) or math.huge) > sessionMost then
      expectReadable(countState(base .. 'state:' .. id), sessionMost, 'session', userId, sessionId)
    end
    if excess then return end
    if state then bytes = bytes + #state end
    if not state then
      state = redis.call('HGETALL', base .. 'state:' .. id)
      bytes = bytes + sizeOf(state)
    end
    bytes = bytes + sizeOfUser(userId, base) + sizeOfApp
  end
  bytes = bytes + (metadata and #metadata or 0)
  isCut = bytes > maxBytes and #sessions > 0
  if isCut or excess then return end
  sessions[#sessions + 1] = { userId, sessionId, record, state, pending, metadata }
end

local function reply(total, examinedTo)
  return { text(now), total, appState, users, sessions, text(serverTime), not isCut and examinedTo or false, isCut and 1 or false, damaged, excess }
end
`;

/**
 * Reads a page of the sessions of a user or an app, with their state.
 *
 * KEYS, ARGV 1–13 and the reply: see LISTED_SESSIONS.
 * ARGV 14 offset, 15 with total (1 or 0).
 */
export const LIST_SESSIONS = defineScript(
  'list-sessions',
  TIME,
  ENCODE_ID,
  SHARED_STATE,
  STATE_BYTES,
  OWN_STATE,
  COMPARE_BYTES,
  LISTED_SESSIONS,
  String.raw`
local offset = tonumber(ARGV[14])
local expired = redis.call('ZCOUNT', KEYS[3], '-inf', text(now))
local place = CURSOR_TIME == '' and 0 or placesBefore(CURSOR_TIME, CURSOR_MEMBER)
if expired == 0 then
  place = place + offset
  offset = 0
end
while not isFull() do
  local last = place + math.min(limit - #sessions + offset, 1000) - 1
  local members = redis.call(isBackwards and 'ZREVRANGE' or 'ZRANGE', SORTED, place, last)
  if #members == 0 then break end
  place = last + 1
  local expiries = expired > 0 and redis.call('ZMSCORE', KEYS[3], unpack(members)) or {}
  for index, member in ipairs(members) do
    local isLive = not expiries[index] or tonumber(expiries[index]) > now
    if isLive and offset > 0 then
      offset = offset - 1
    elseif isLive and not isFull() then
      addSession(member)
    end
  end
end

return reply(ARGV[15] == '1' and redis.call('ZCARD', SORTED) - expired)
`,
);

/**
 * Reads a page of the sessions whose metadata has some entries. It examines sessions in the order of the list. By creation,
 * these are the sessions with the rarest entry; by update, all sessions. If the sessions with the rarest entry are few
 * enough to examine them all, it sorts these by update instead. Members of the index by entry: see ENTRY_INDEX.
 *
 * KEYS, ARGV 1–13 and the reply: see LISTED_SESSIONS.
 * ARGV 14 how many sessions to examine at most, 15 and on: entries.
 */
export const LIST_FILTERED = defineScript(
  'list-filtered',
  TIME,
  ENCODE_ID,
  SHARED_STATE,
  STATE_BYTES,
  OWN_STATE,
  COMPARE_BYTES,
  LISTED_SESSIONS,
  String.raw`
local BATCH = 1000
local maxExamined = tonumber(ARGV[14])
local entries = { unpack(ARGV, 15) }
local BY_UPDATE, BY_CREATION, BY_ENTRY = KEYS[1], KEYS[2], KEYS[4]

local rarest, size
for _, entry in ipairs(entries) do
  local count = redis.call('ZLEXCOUNT', BY_ENTRY, '[' .. entry .. '\n', '[' .. entry .. '\n\255')
  if not size or count < size then rarest, size = entry, count end
end

-- Removes names whose session lacks one of the entries; rests are what follows the entry in a member of each.
local function keepMatching(names, rests, known)
  for _, entry in ipairs(entries) do
    if entry ~= known and #names > 0 then
      local members = {}
      for index, rest in ipairs(rests) do members[index] = entry .. '\n' .. rest end
      local scores = redis.call('ZMSCORE', BY_ENTRY, unpack(members))
      local keptNames, keptRests = {}, {}
      for index, score in ipairs(scores) do
        if score then
          keptNames[#keptNames + 1] = names[index]
          keptRests[#keptRests + 1] = rests[index]
        end
      end
      names, rests = keptNames, keptRests
    end
  end
  return names
end

local function addSessions(names)
  for _, name in ipairs(names) do
    if isFull() then return end
    addSession(name)
  end
end

-- Time of creation and name of the session, of a member of the index by entry.
local function restOf(member)
  return string.sub(member, #rarest + 2)
end

local function nameOf(rest)
  return string.sub(rest, 18)
end

local function membersOfRarest(from, count)
  local low, high = '[' .. rarest .. '\n', '[' .. rarest .. '\n\255'
  if from and isBackwards then high = '(' .. from elseif from then low = '(' .. from end
  if isBackwards then return redis.call('ZREVRANGEBYLEX', BY_ENTRY, high, low, 'LIMIT', 0, count) end
  return redis.call('ZRANGEBYLEX', BY_ENTRY, low, high, 'LIMIT', 0, count)
end

-- The next batch of sessions with the rarest entry: the names of those with all entries, the size of the batch, and its
-- last member.
local function nextOfRarest(from, wanted)
  local members = membersOfRarest(from, wanted)
  local names, rests = {}, {}
  for index, member in ipairs(members) do
    rests[index] = restOf(member)
    names[index] = nameOf(rests[index])
  end
  return keepMatching(names, rests, rarest), #members, members[#members] or from
end

local function listByCreation()
  local last = CURSOR_TIME ~= '' and table.concat({ rarest, string.format('%016.0f', CURSOR_TIME), CURSOR_MEMBER }, '\n')
  local examined = 0
  while not isFull() and examined < maxExamined do
    local wanted = math.min(BATCH, maxExamined - examined)
    if #entries == 1 then wanted = math.min(wanted, limit - #sessions) end
    local names, count
    names, count, last = nextOfRarest(last, wanted)
    examined = examined + count
    addSessions(names)
    if count < wanted then return end
  end
  if not isFull() and last then
    local rest = restOf(last)
    return { text(tonumber(string.sub(rest, 1, 16))), nameOf(rest) }
  end
end

local function sortRarestByUpdate()
  local found, last = {}, nil
  repeat
    local names, count
    names, count, last = nextOfRarest(last, BATCH)
    local times = #names > 0 and redis.call('ZMSCORE', BY_UPDATE, unpack(names)) or {}
    for index, name in ipairs(names) do
      if times[index] then found[#found + 1] = { time = tonumber(times[index]), name = name } end
    end
  until count < BATCH
  local function isBefore(a, b)
    local order = a.time - b.time
    if order == 0 then order = compareBytes(a.name, b.name) end
    if isBackwards then return order > 0 end
    return order < 0
  end
  table.sort(found, isBefore)
  local cursor = CURSOR_TIME ~= '' and { time = tonumber(CURSOR_TIME), name = CURSOR_MEMBER }
  for _, session in ipairs(found) do
    if isFull() then return end
    if not cursor or isBefore(cursor, session) then addSession(session.name) end
  end
end

local function listByUpdate()
  local place = CURSOR_TIME == '' and 0 or placesBefore(CURSOR_TIME, CURSOR_MEMBER)
  local examined, last = 0, nil
  while not isFull() and examined < maxExamined do
    local wanted = math.min(BATCH, maxExamined - examined)
    local names = redis.call(isBackwards and 'ZREVRANGE' or 'ZRANGE', BY_UPDATE, place, place + wanted - 1)
    local count = #names
    if count == 0 then return end
    last = names[count]
    local rests = {}
    for index, created in ipairs(redis.call('ZMSCORE', BY_CREATION, unpack(names))) do
      rests[index] = string.format('%016.0f', created or 0) .. '\n' .. names[index]
    end
    addSessions(keepMatching(names, rests))
    place, examined = place + count, examined + count
    if count < wanted then return end
  end
  if not isFull() and last then return { text(tonumber(redis.call('ZSCORE', BY_UPDATE, last))), last } end
end

if limit == 0 or size == 0 then return reply(false) end
if isByCreation then return reply(false, listByCreation()) end
if size <= maxExamined then return reply(false, sortRarestByUpdate()) end
return reply(false, listByUpdate())
`,
);
