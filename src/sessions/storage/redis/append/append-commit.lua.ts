import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { type RecordField, ALL_COUNTER_FIELDS, luaPlaceOf } from '../script/codec.js';
import { EVENT_GROUPS } from '../script/event-groups.lua.js';
import { METADATA } from '../script/metadata.lua.js';
import { defineScript } from '../script/script.js';
import {
  CHANGED_SESSIONS,
  END_PARTIALS,
  RECORD,
  SESSION_ENDING,
  SESSION_ENTRIES,
  SESSION_INDEXES,
  SESSION_KEYS,
  SESSION_REGISTRATION,
  TURN,
} from '../script/session.lua.js';
import { REGISTRY, SHARED_STATE } from '../script/shared-state.lua.js';

/** Lua that changes a field of the record. */
function change(field: RecordField, value: string): string {
  return `change(${luaPlaceOf(field)}, '${field}', ${value})`;
}

/**
 * Writes a commit or reports why it cannot. All checks come before the first write. What few commits need is in blocks of its
 * own, because each run of a script creates its functions again.
 *
 * KEYS and ARGV 1–4: see SESSION_KEYS.
 * ARGV 5 expected incarnation ('' = any), 6 the request as JSON: timestamps of the events; places of anchors among them;
 *      expected version, last seq, first seq and marks seq; whether a turn is needed, and ends; increments of all counters; new marks ('@' = the
 *      number of the event); ttl of the session, ttl and renewal threshold of user state, then of app state (missing =
 *      renews nothing); numbers of upserts and removals of session state; whether there are writes to shared state;
 *      messages whose partial events end, or 'all' (missing = none).
 * ARGV 7 and on: of each event its id, its stored text after the times, and its group; name and value of each upsert of session state, and
 *      the name of each removal; the token of the turn, if one is needed; if there are writes to shared state: those to user state, and to app state
 *      (on a cluster: as one text, '' = none); if metadata changes: number of changes, and name and value of each ('' =
 *      removed).
 * Returns { kind, now, record, details }, and on a cluster also pending and server time. Details are for 'appended' the
 *      previous tip, for 'seen' the number and text of the stored event of each id, or two empty texts.
 */
export const APPEND_COMMIT = defineScript(
  'append-commit',
  TIME,
  ARGUMENTS,
  SESSION_KEYS,
  RECORD,
  SESSION_ENDING,
  EVENT_GROUPS,
  String.raw`
local record = liveRecord()
if not record or (ARGV[5] ~= '' and ARGV[5] ~= record.incarnation) then return { 'missing' } end
local request = cjson.decode(ARGV[6])
local values, timeText = record.values, text(now)

-- The texts of each event.
local FIRST_TEXT = 7
local function idOf(index) return ARGV[FIRST_TEXT - 3 + 3 * index] end
local function groupOf(index) return ARGV[FIRST_TEXT - 1 + 3 * index] end

local function reply(kind, details)
  if APP_STATE then return { kind, timeText, recordText(values), details or {} } end
  return { kind, timeText, recordText(values), details or {}, pendingWrites(), text(serverTime) }
end

local timestamps = request.timestamps
local count = #timestamps
local fields, groups, runs = {}, {}, {}
for index = 1, count do fields[index] = idOf(index) end
for index = 1, count do
  local group = groupOf(index)
  if group ~= '' and runs[group] == nil then
    groups[#groups + 1] = group
    fields[count + #groups] = groupField(group)
    runs[group] = false
  end
end
-- An id above the last seq was left by a script that Redis stopped half way, for example for a missing permission.
local found = {}
for first = 1, #fields, 4000 do
  local part = redis.call('HMGET', IDS, unpack(fields, first, math.min(first + 3999, #fields)))
  for index = 1, #part do found[first + index - 1] = part[index] end
end
local isSeen = false
for index = 1, count do
  if found[index] and tonumber(found[index]) <= record.last then isSeen = true end
end
if isSeen then
  local seen = {}
  for index = 1, count do
    local seq = found[index]
    local isStored = seq and tonumber(seq) <= record.last
    seen[#seen + 1] = isStored and seq or ''
    seen[#seen + 1] = isStored and redis.call('HGET', EVENTS, seq) or ''
  end
  return reply('seen', seen)
end
for place, group in ipairs(groups) do runs[group] = found[count + place] end

local ttl, userTtl, userRenewBelow, appTtl, appRenewBelow
if request.expiry then ttl, userTtl, userRenewBelow, appTtl, appRenewBelow = unpack(request.expiry) end
local firstUpsert = FIRST_TEXT + 3 * count
local firstRemoval = firstUpsert + 2 * request.own[1]
position = firstRemoval + request.own[2] - 1

local endedTurn
if request.inTurn then
  ${TURN}
  local turn = turnOf(record)
  if not isTurnHeld(turn, take()) then return reply('turnLost') end
  if request.endsTurn then endedTurn = turnText(turn, 0) end
elseif record.turnsOnly and ttl then
  return reply('turnRequired')
end
if request.version and (request.version < record.tip or request.version > record.last) then return reply('stale') end
for field, seq in pairs(request.expected) do
  if record[field] ~= seq then return reply('overtaken') end
end

-- Until the first write, this only reads: each key to be written, so that none has a wrong type.
local expiry, updated = record.expires, record.updated
local writeShared, indexMetadata, renew, noteChanged, waiting
if position > firstUpsert - 1 then redis.call('HLEN', STATE) end
if request.anchors[1] then redis.call('ZCARD', ANCHORS) end
if request.endsPartials then redis.call('ZCARD', PARTIALS) end
if request.writesShared or (ttl and (userRenewBelow > 0 or appRenewBelow > 0)) then
  ${SHARED_STATE}
  local none = { sets = {}, removals = {} }
  local userWrites = request.writesShared and takeWrites() or none
  local appWrites = none
  if request.writesShared then appWrites = APP_STATE and takeWrites() or take() end
  local userExpiry, appExpiry = expiryOfState(USER_STATE), APP_STATE and expiryOfState(APP_STATE)
  writeShared = ttl and function(seq)
    local userDue = writeState(USER_STATE, userExpiry, userWrites, userTtl, userRenewBelow)
    if APP_STATE then return userDue, writeState(APP_STATE, appExpiry, appWrites, appTtl, appRenewBelow) end
    if appWrites ~= none and appWrites ~= '' then redis.call('HSET', PENDING, seq, appWrites) end
    return userDue
  end
end

local metadataChanges = ARGV[position + 1]
local metadata
if metadataChanges then
  ${METADATA}
  ${SESSION_ENTRIES}
  metadata = metadataAfter(redis.call('HGET', RECORD, 'metadata'), takeMetadata())
  if not metadata then return reply('full') end
  expectEntries()
  indexMetadata = function() indexEntries(SESSION_ID, record.created, metadata) end
end

if not APP_STATE then redis.call('HLEN', PENDING) end
if ttl then
  expiry, updated = expiresAt(ttl), math.max(updated, now)
  if APP_STATE and math.min(expiry, record.expires, expiresAt(userTtl), expiresAt(appTtl)) >= NEVER then
    redis.call('ZCARD', BY_UPDATE)
    redis.call('ZCARD', APP_BY_UPDATE)
  else
    ${REGISTRY}
    ${SESSION_INDEXES}
    ${SESSION_REGISTRATION}
    countIndexes(isExpiring(expiry, record.expires))
    local registry = readRegistry(math.min(expiry, expiresAt(userTtl), expiresAt(appTtl)))
    renew = function(userDue, appDue)
      indexSession(updated, nil, expiry, record.expires)
      register(registry, expiry, record.expires, userDue, appDue)
    end
  end
end
if record.waiting == 0 or expiry ~= record.expires then
  ${CHANGED_SESSIONS}
  readChanged(record)
  waiting = waitingFrom()
  noteChanged = function() noteChange(record, expiry) end
end

-- The first write.
local water = math.max(record.water, now)
local waterText = water == now and timeText or text(water)
local seq
local events, ids = {}, {}
for index = 1, count do
  seq = text(record.last + index)
  if timestamps[index] > water then
    water = timestamps[index]
    waterText = text(water)
  end
  events[2 * index - 1], events[2 * index] = seq, timeText .. '\n' .. waterText .. '\n' .. ARGV[FIRST_TEXT - 2 + 3 * index]
  ids[2 * index - 1], ids[2 * index] = fields[index], seq
  local group = groupOf(index)
  if group ~= '' then runs[group] = runsWith(runs[group], seq) end
end
for _, group in ipairs(groups) do
  ids[#ids + 1] = groupField(group)
  ids[#ids + 1] = runs[group]
end
for first = 1, #events, 2000 do
  redis.call('HSET', EVENTS, unpack(events, first, math.min(first + 1999, #events)))
end
for first = 1, #ids, 2000 do redis.call('HSET', IDS, unpack(ids, first, math.min(first + 1999, #ids))) end
for _, index in ipairs(request.anchors) do
  redis.call('ZADD', ANCHORS, events[2 * index - 1], events[2 * index - 1])
end

-- From here on, seq is the number of the last event.
local changes, size = {}, 0
local function change(place, field, value)
  values[place] = value
  changes[size + 1], changes[size + 2] = field, value
  size = size + 2
end
${change('last', 'seq')}
if waterText ~= values[${luaPlaceOf('water')}] then ${change('water', 'waterText')} end
local increments = request.increments
${ALL_COUNTER_FIELDS.map((field, index) => `if increments[${index + 1}] ~= 0 then ${change(field, `text(record.${field} + increments[${index + 1}])`)} end`).join('\n')}
local marks = request.marks
if marks then
  ${change('hidden', "(string.gsub(marks.hidden, '@', seq))")}
  ${change('viewFrom', 'marks.viewFrom')}
  ${change('summary', "marks.summary == '@' and seq or marks.summary")}
  ${change('marks', 'seq')}
  ${change('covered', 'marks.covered')}
end
if ttl then
  ${change('tip', 'seq')}
  if updated ~= record.updated then ${change('updated', 'updated == now and timeText or text(updated)')} end
  if expiry ~= record.expires then ${change('expires', 'text(expiry)')} end
end
if record.waiting == 0 then
  ${change('dispatched', 'text(record.last)')}
  ${change('waiting', 'waiting')}
end
if endedTurn then ${change('turn', 'endedTurn')} end
if metadata then changes[size + 1], changes[size + 2] = 'metadata', metadata end
redis.call('HSET', RECORD, unpack(changes))

for first = firstUpsert, firstRemoval - 1, 2000 do
  redis.call('HSET', STATE, unpack(ARGV, first, math.min(first + 1999, firstRemoval - 1)))
end
for index = firstRemoval, firstRemoval + request.own[2] - 1 do redis.call('HDEL', STATE, ARGV[index]) end
if request.endsPartials then
  ${END_PARTIALS}
end
if indexMetadata then indexMetadata() end
local userDue, appDue
if writeShared then userDue, appDue = writeShared(seq) end
if renew then
  renew(userDue, appDue)
elseif ttl then
  redis.call('ZADD', BY_UPDATE, updated == now and timeText or text(updated), SESSION_ID)
  redis.call('ZADD', APP_BY_UPDATE, updated == now and timeText or text(updated), MEMBER_OF_APP)
end
expireSession(expiry, record.expires)
if noteChanged then noteChanged() end
announce(record.incarnation .. ' ' .. seq)
return reply('appended', { text(record.tip) })
`,
);
