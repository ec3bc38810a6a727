import { ARGUMENTS, ENCODE_ID, TIME } from '../script/base.lua.js';
import { ID_FIELD, recordPattern } from '../script/codec.js';
import { EVENT_GROUPS } from '../script/event-groups.lua.js';
import { defineScript } from '../script/script.js';
import { SESSION, SESSION_REGISTRATION } from '../script/session.lua.js';
import { SESSION_KEYS_BY_NAME } from '../script/session-keys.lua.js';
import { REGISTRY, SHARED_STATE } from '../script/shared-state.lua.js';
import { logArguments } from './initial-log.js';

/** The arguments after the state of a plain session, in Lua: it removes nothing and writes no shared state; then its log. */
const REST_OF_PLAIN = [0, 0, 0, 0, 0, ...logArguments()].map((value) => (value === '' ? "''" : `'${value}'`));

/**
 * Creates most plain sessions: those of a user who has others, none of which expires, if nothing is left of an earlier session of
 * the same id. For the others it only completes KEYS and ARGV.
 */
const PLAIN_SESSION = String.raw`
local isPlain = #RECORDS == 1
local from, untilTime = string.match(ARGV[7], '^(%S+) (%S+)$')
-- Whether the record was planned for another time.
local isOff = from and (serverTime < tonumber(from) or serverTime > tonumber(untilTime))
local function stateIfLive(key, most)
  local entries = redis.call('HGETALL', key)
  if most and bytesOfState(entries) > most then return false end
  for index = 1, #entries, 2 do
    if entries[index] == '' then return expiryIn(entries[index + 1]) > now and entries end
  end
  return #entries == 0 and entries
end

local function createPlainly()
  if isOff then return end
  local byCreation, byCreationOfApp = baseOfUser .. 'by-creation', baseOfApp .. 'by-creation'
  -- Indexes without expiring sessions have no expiry themselves.
  if redis.call('EXISTS', RECORD, ANCHORS, STATE, baseOfUser .. 'pending:' .. encodedId, baseOfUser .. 'partials:' .. encodedId,
      baseOfUser .. 'expiring', baseOfApp .. 'expiring') > 0
    or redis.call('HEXISTS', baseOfUser .. 'entries', SESSION_ID) == 1
    or tonumber(redis.call('ZSCORE', baseOfApp .. 'users', USER_ID)) ~= NEVER then return end
  local userState, appState = stateIfLive(USER_STATE, tonumber(ARGV[11])), stateIfLive(APP_STATE, tonumber(ARGV[12]))
  if not userState or not appState then return end
  local time, member = string.match(ARGV[5], ${recordPattern('created')}), USER_ID .. '\0' .. SESSION_ID
  -- The first writes. If a key of another type refuses one, those before it are taken back, which is faster than to look at all types before.
  local indexes = { { BY_UPDATE, SESSION_ID }, { byCreation, SESSION_ID }, { APP_BY_UPDATE, member }, { byCreationOfApp, member } }
  for place, index in ipairs(indexes) do
    local reply = redis.pcall('ZADD', index[1], time, index[2])
    if type(reply) == 'table' then
      for before = 1, place - 1 do redis.call('ZREM', unpack(indexes[before])) end
      error(reply)
    end
  end
  for first = 14, #ARGV, 2000 do redis.call('HSET', STATE, unpack(ARGV, first, math.min(first + 1999, #ARGV))) end
  redis.call('HSET', RECORD, 'base', ARGV[6], 'state', ARGV[13], 'record', ARGV[5])
  return { text(now), '', {}, userState, appState }
end

local ARGV = ARGV
if isPlain then
  SESSION_ID, USER_ID, APP_NAME = ARGV[2], ARGV[3], ARGV[4]
  nameKeys(RECORDS[1], ARGV[8], ARGV[9], ARGV[10], '-')
  local created = createPlainly()
  if created then return created end
  nameAllKeys()
  local all = { ARGV[1], SESSION_ID, USER_ID, APP_NAME, ARGV[5], ARGV[6], ARGV[7], '', ARGV[13], ARGV[11], ARGV[12], NEVER, 0, NEVER, 0, (#ARGV - 13) / 2 }
  for index = 14, #ARGV do all[#all + 1] = ARGV[index] end
  for _, value in ipairs({ ${REST_OF_PLAIN.join(', ')} }) do all[#all + 1] = value end
  ARGV = all
else
  KEYS = RECORDS
end
`;

/**
 * Creates a session unless a live one exists. A live one with the same incarnation was created by this very request,
 * which was sent twice.
 *
 * KEYS and ARGV 1–4: see SESSION; or of a plain session only key 1, and
 * ARGV 5 record, 6 base state, 7 from and to when it may be created by the server's time ('' = at any time), 8–10 bytes of the encoded app name, user id and session
 *      id, 11–12 most bytes of user state and app state ('' = any), 13 its state as one text or '-', 14 and on: name and value of each key of its state. It never expires, and has no metadata and no log.
 * Otherwise
 * ARGV 5 and on: record, base state, from and to, metadata, session state as one text or '-', most bytes of user state and app state ('' = any), ttl and renewal threshold of user
 *      state, then of app state; writes to session state, to user state, and to app state (on a cluster: as one text, '' = none); of the
 *      initial log the numbers of its anchors in one text, the group of each event as a line, number of events, and each event, encoded.
 * Returns nothing if a session exists; { 'late', the server's time } if the time is another one; if a shared scope is too large, or would be, { 'excess', scope, bytes, 0 if it is already }; else { now, record ('' = the new one), session state (of a new one nothing), user
 *      state, app state, pending, server time }.
 */
export const CREATE_SESSION = defineScript(
  'create-session',
  TIME,
  SESSION_KEYS_BY_NAME,
  SHARED_STATE,
  PLAIN_SESSION,
  ARGUMENTS,
  ENCODE_ID,
  REGISTRY,
  SESSION,
  SESSION_REGISTRATION,
  EVENT_GROUPS,
  String.raw`
local recordText, base, _, metadata, stateText = take(), take(), take(), take(), take()
local incarnation, created, expires, updated, waiting = string.match(recordText,
  ${recordPattern('incarnation', 'created', 'expires', 'updated', 'waiting')})
local createTime, updateTime, expiry = tonumber(created), tonumber(updated), tonumber(expires)
local userMost, appMost = takeNumber(), takeNumber()
local userTtl, userRenewBelow, appTtl, appRenewBelow = takeNumber(), takeNumber(), takeNumber(), takeNumber()
local ownWrites, userWrites = takeWrites(), takeWrites()
local appWrites = APP_STATE and takeWrites() or take()
local anchors, groups, events = take(), take(), takeNumber()

local function reply(record, state, userState, appState)
  return { text(now), record, state, userState, appState, pendingWrites(), text(serverTime) }
end

local live = liveRecord()
if live and live.incarnation ~= incarnation then return false end
local function excessOf(entries, most, scope)
  local bytes = most and bytesOfState(entries)
  if bytes and bytes > most then return { 'excess', scope, text(bytes), 0 } end
end

if live then
  local userState, appState = readState(USER_STATE), APP_STATE and readState(APP_STATE) or {}
  return excessOf(userState, userMost, 'user') or excessOf(appState, appMost, 'app')
    or reply(live.text, ownStateText(RECORD) or redis.call('HGETALL', STATE), userState, appState)
end
-- Exact, so that what is planned next is not earlier than it has to be.
if isOff then return { 'late', text(serverTime) .. string.format('.%03d', microseconds) } end

-- Sessions that Redis expired are still in the indexes. Each new session removes up to 16 of them.
local function sweepIndexes()
  local base = string.sub(RECORD, 1, #RECORD - #encode(SESSION_ID))
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', INDEXES[1].by[3], '-inf', text(now), 'LIMIT', 0, 16)) do
    if redis.call('EXISTS', base .. encode(id)) == 0 then
      indexEntries(id)
      unindex(INDEXES[1], id)
      if INDEXES[2] then unindex(INDEXES[2], USER_ID .. '\0' .. id) end
      redis.call('ZREM', CHANGED, APP_NAME .. '\0' .. USER_ID .. '\0' .. id)
    end
  end
end

-- Reads every key to be written, except the session's own keys, which are deleted.
countIndexes(true)
for _, index in ipairs(INDEXES) do expectSortedSets(index.by[2]) end
local maySweep = INDEXES[1].expiring > 0
local hasEntries = redis.call('HGET', ENTRIES, SESSION_ID) or metadata ~= ''
if maySweep or hasEntries then expectEntries() end
local isFirstChanged = (maySweep or waiting ~= '0') and redis.call('ZCARD', CHANGED) == 0
local registry = readRegistry(math.min(expiry, expiresAt(userTtl), expiresAt(appTtl)))
local userState, userExpiry, userBytes = readState(USER_STATE)
local appState, appExpiry, appBytes = {}, nil, 0
if APP_STATE then appState, appExpiry, appBytes = readState(APP_STATE) end
for _, scope in ipairs({ { 'user', USER_STATE, userExpiry, userWrites, userMost }, APP_STATE and { 'app', APP_STATE, appExpiry, appWrites, appMost } }) do
  local name, stateKey, expiryBefore, writes, most = unpack(scope, 1, 5)
  if most then
    local before, after = bytesAround(stateKey, expiryBefore, writes)
    if before > most then return { 'excess', name, text(before), 0 } end
    if after > most then return { 'excess', name, text(after), 1 } end
  end
end

unlinkIfPresent(unpack(KEYS, 1, 5))
if maySweep then sweepIndexes() end
redis.call('HSET', RECORD, 'base', base, 'metadata', metadata, 'state', stateText, 'record', recordText)
-- Writing 1,000 fields at a time takes half as long; Lua limits how many values it unpacks.
for from = 1, events, 1000 do
  local fields = {}
  for number = from, math.min(from + 999, events) do
    local event, seq = take(), text(number)
    local place = 4 * (number - from) + 1
    fields[place], fields[place + 1] = seq, event
    fields[place + 2], fields[place + 3] = '${ID_FIELD}' .. string.match(event, '^[^\n]*\n[^\n]*\n[^\n]*\n([^\n]*)'), seq
  end
  redis.call('HSET', RECORD, unpack(fields))
end
for seq in string.gmatch(anchors, '%d+') do redis.call('ZADD', ANCHORS, seq, seq) end
local runs, number = {}, 0
for group in string.gmatch(groups, '([^\n]*)\n') do
  number = number + 1
  if group ~= '' then runs[group] = runsPlus(runs[group], text(number) .. '-' .. text(number)) end
end
for group, some in pairs(runs) do redis.call('HSET', RECORD, groupField(group), some) end
writeEntries(STATE, ownWrites)
local function isUnchanged(expiryOfIt, writes, renewBelow)
  return isEmpty(writes) and not (expiryOfIt and expiryOfIt - now < renewBelow)
end
local userDue, appDue
if not isUnchanged(userExpiry, userWrites, userRenewBelow) then
  userDue = writeState(USER_STATE, userExpiry, userBytes, userWrites, userTtl, userRenewBelow)
  userState = readState(USER_STATE)
end
if APP_STATE then
  if not isUnchanged(appExpiry, appWrites, appRenewBelow) then
    appDue = writeState(APP_STATE, appExpiry, appBytes, appWrites, appTtl, appRenewBelow)
    appState = readState(APP_STATE)
  end
elseif appWrites ~= '' then
  redis.call('HSET', PENDING, 0, appWrites)
end
if hasEntries then indexEntries(SESSION_ID, createTime, metadata) end
indexSession(updateTime, createTime, expiry, 0)
register(registry, expiry, nil, userDue, appDue)
expireSession(expiry, nil)
if waiting ~= '0' then noteChange(waiting, expiry, isFirstChanged) end
return reply('', {}, userState, appState)
`,
);
