import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { ALL_COUNTER_FIELDS, RECORD_FIELD_NAMES, luaPlaceOf, recordPattern } from '../script/codec.js';
import { EVENT_GROUPS, EVENT_RUNS } from '../script/event-groups.lua.js';
import { METADATA } from '../script/metadata.lua.js';
import { PLAIN_APPEND } from './plain-append.lua.js';
import { HINT_ARGUMENTS } from './remembered-records.js';
import { NOTE_SIZE, SIZE_AFTER_UPSERTS } from './state-size.lua.js';
import { defineScript } from '../script/script.js';
import {
  CHANGED_SESSIONS,
  END_PARTIALS,
  RECORD_TEXT,
  SESSION_ENDING,
  SESSION_ENTRIES,
  SESSION_INDEXES,
  SESSION_REGISTRATION,
  TURN,
} from '../script/session.lua.js';
import { SESSION_KEYS_BY_NAME } from '../script/session-keys.lua.js';
import { REGISTRY, SHARED_STATE } from '../script/shared-state.lua.js';
import { SHARED_USAGE, USAGE_PERIODS } from '../script/usage.lua.js';

/** The lines of a record that most appends look at. The rest stays one text. */
const HOT_FIELDS = RECORD_FIELD_NAMES.slice(0, luaPlaceOf('turnsOnly'));
/** In the rest: the number of the event that set the marks; and what follows all marks. */
const PATTERN_OF_MARKS = String.raw`'^\n[^\n]*\n[^\n]*\n[^\n]*\n([^\n]*)'`;
const PATTERN_AFTER_MARKS = String.raw`'^\n[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*(.*)$'`;

/** The increment of each counter. */
const ADDED = ALL_COUNTER_FIELDS.map((field) => `${field}Added`);
/** Four lines, the numbers in the fifth, and usage. */
const HEAD_PATTERN = `^${String.raw`([^\n]*)\n`.repeat(4)}${'([^ ]*) '.repeat(13 + ADDED.length)}${String.raw`([^ \n]*)\n?(.*)$`}`;

/**
 * Writes commits, each like one script of its own, or reports why it cannot. All checks of a commit come before its first
 * write. What few commits need is in blocks of its own, because each run of a script creates its functions again.
 *
 * KEYS the record of the session of each commit; several times the same one for several commits to a session. The script
 *      makes the other keys out of that one, which is faster than to pass them. On a cluster they are in the same slot.
 * ARGV 1 time, then for each commit: the number of its arguments, then
 *      1 a head: app name, user id, session id and expected incarnation ('' = any), a line each; then one line: bytes of the
 *      encoded app name, user id and session id; tag of the slot (on a cluster, else '-'); 1 if the next argument is
 *      needed; number of events; ttl of the session, ttl and renewal threshold of user state, then of app state ('-' =
 *      renews nothing); numbers of upserts and removals of session state; most bytes of session state ('-' = any); increments of all
 *      counters; then usage, if there is any
 *      2 of a plain append to a session whose record is remembered: a hint, else ''. The hint has HINT_ARGUMENTS arguments: the
 *      record; the record after the append, before and after the lines for high water mark and update; number of the event;
 *      the least high water mark; time of the last update; session id; member of the app's indexes; checksum; 1 if it is an
 *      anchor; field of the group or ''; bytes of the encoded session id, and of what follows the app name in the key; usage of
 *      one model or ''
 *      3 what few commits have, as JSON: expected version, last seq, first seq and marks seq; whether a turn is needed, and ends;
 *      new marks ('@' = the number of the event); whether there are writes to shared state; most bytes of user state and app state; messages whose
 *      partial events end, or 'all'
 *      then of each event: its timestamp, 1 if it is an anchor, checksum and group; its id; its payload; name and
 *      value of each upsert of session state, and the name of each removal; the token of the turn, if one is needed; on a cluster with usage: all pending writes as one text; if
 *      there are writes to shared state: those to user state, and to app state (on a cluster: as one text, '' = none); if
 *      metadata changes: number of changes, and name and value of each ('' = removed).
 * Returns a list with for each commit: if it is written, one text: now, the previous tip, and the record, or only now if
 *      the hint was right; on a cluster with pending and server time. Otherwise { kind, now, record, details }, on a cluster also pending and server time. Details
 *      are for 'seen' the number and text of the stored event of each id, or two empty texts; for 'stateFull' the scope and its bytes. Of several commits, one that
 *      cannot be written for an error is { 'failed' }: it may be run again by itself, and then returns the error.
 */
export const APPEND_COMMIT = defineScript(
  'append-commit',
  TIME,
  EVENT_RUNS,
  PLAIN_APPEND,
  ARGUMENTS,
  SESSION_KEYS_BY_NAME,
  RECORD_TEXT,
  SESSION_ENDING,
  EVENT_GROUPS,
  String.raw`
local timeOfServer = text(serverTime)

local function appendCommit(key)
  local head = take()
  local incarnationWanted, appBytes, userBytes, idBytes, tag, hasMore, count
  local ttl, userTtl, userRenewBelow, appTtl, appRenewBelow, upserts, removals, stateMost, ${ADDED.join(', ')}, usage
  APP_NAME, USER_ID, SESSION_ID, incarnationWanted, appBytes, userBytes, idBytes, tag, hasMore, count,
    ttl, userTtl, userRenewBelow, appTtl, appRenewBelow, upserts, removals, stateMost, ${ADDED.join(', ')}, usage = string.match(head, '${HEAD_PATTERN}')
  nameKeys(key, appBytes, userBytes, idBytes, tag)
  local stored, turn = readRecord(RECORD)
  if not stored then return { 'missing' } end
  local ${HOT_FIELDS.join(', ')}, rest = string.match(stored, ${recordPattern(...HOT_FIELDS)} .. '(.*)$')
  if tonumber(expires) <= now or (incarnationWanted ~= '' and incarnationWanted ~= incarnation) then return { 'missing' } end
  if take() ~= '' then position = position + ${HINT_ARGUMENTS - 1} end
  local request = hasMore == '1' and cjson.decode(take()) or nil
  count, upserts, removals, ttl = tonumber(count), tonumber(upserts), tonumber(removals), tonumber(ttl)

  local function reply(kind, details)
    local found = recordReply(stored, turn)
    if APP_STATE then return { kind, timeText, found, details or {} } end
    return { kind, timeText, found, details or {}, pendingWrites(), timeOfServer }
  end

  -- The ids, then the fields of the groups.
  local firstText, lastSeq = position + 1, tonumber(last)
  local fields, timestamps, anchors, checksums, groupsOf, groups, runs = {}, {}, {}, {}, {}, {}, {}
  for index = 1, count do
    local at = firstText + 3 * index - 3
    timestamps[index], anchors[index], checksums[index], groupsOf[index] =
      string.match(ARGV[at], '^([^ ]*) (%d)\n([^\n]*)\n(.*)$')
    fields[index] = ARGV[at + 1]
  end
  for index = 1, count do
    local group = groupsOf[index]
    if group ~= '' and runs[group] == nil then
      groups[#groups + 1] = group
      fields[count + #groups] = groupField(group)
      runs[group] = false
    end
  end
  -- An id above the last seq was left by a script that Redis stopped half way, for example for a missing permission.
  local found = {}
  if #fields <= 4000 then
    found = redis.call('HMGET', IDS, unpack(fields))
  else
    for first = 1, #fields, 4000 do
      local part = redis.call('HMGET', IDS, unpack(fields, first, math.min(first + 3999, #fields)))
      for index = 1, #part do found[first + index - 1] = part[index] end
    end
  end
  local isSeen = false
  for index = 1, count do
    if found[index] and tonumber(found[index]) <= lastSeq then isSeen = true end
  end
  if isSeen then
    local seen = {}
    for index = 1, count do
      local seq = found[index]
      local isStored = seq and tonumber(seq) <= lastSeq
      seen[#seen + 1] = isStored and seq or ''
      seen[#seen + 1] = isStored and redis.call('HGET', EVENTS, seq) or ''
    end
    return reply('seen', seen)
  end
  for place, group in ipairs(groups) do runs[group] = found[count + place] end

  local firstUpsert = firstText + 3 * count
  local firstRemoval = firstUpsert + 2 * upserts
  position = firstRemoval + removals - 1

  local newMarks, endedTurn, writesShared
  if request then
    newMarks, writesShared = request.marks, request.writesShared
    if request.inTurn then
      ${TURN}
      local held = turnOf({ turn = turn })
      if not isTurnHeld(held, take()) then return reply('turnLost') end
      if request.endsTurn then endedTurn = turnText(held, 0) end
    elseif turnsOnly == '1' and ttl then
      return reply('turnRequired')
    elseif request.endsTurn and turn and turn ~= '' then
      ${TURN}
      endedTurn = turnText(turnOf({ turn = turn }), 0)
    end
    if request.version and (request.version < tonumber(tip) or request.version > lastSeq) then return reply('stale') end
    local expected = request.expected
    if expected then
      local marksBefore = string.match(rest, ${PATTERN_OF_MARKS})
      if (expected.last or lastSeq) ~= lastSeq or (expected.first or tonumber(first)) ~= tonumber(first)
        or (expected.marks or tonumber(marksBefore)) ~= tonumber(marksBefore) then return reply('overtaken') end
    end
  elseif turnsOnly == '1' and ttl then
    return reply('turnRequired')
  end

  -- Until the first write, this only reads: each key to be written, so that none has a wrong type.
  local expiry, before = tonumber(expires), nil
  local expiryBefore, isWaiting = expiry, (tonumber(waiting) or 0) > 0
  local writeShared, indexMetadata, renew, noteChanged, isAnchored, addUsage
  if upserts + removals > 0 then redis.call('HLEN', STATE) end
  for index = 1, count do isAnchored = isAnchored or anchors[index] == '1' end
  if isAnchored then redis.call('ZCARD', ANCHORS) end
  if request and request.endsPartials then
    PARTIALS = baseOfUser .. 'partials:' .. encodedId
    redis.call('ZCARD', PARTIALS)
  end
  if usage ~= '' then
    ${USAGE_PERIODS}
    ${SHARED_USAGE}
    local ofSession = plusLines(redis.call('HGET', RECORD, 'usage'), string.match(usage, '\n(.*)$'))
    local ofUser = sharedUsage(baseOfUser .. 'usage', usage)
    local ofApp = APP_STATE and sharedUsage(baseOfApp .. 'usage', usage)
    local pending = not APP_STATE and take()
    addUsage = function(seq)
      redis.call('HSET', RECORD, 'usage', ofSession)
      ofUser()
      if ofApp then ofApp() else redis.call('HSET', PENDING, seq, pending) end
    end
  end
  if writesShared or (ttl and not (userRenewBelow == '0' and appRenewBelow == '0')) then
    ${SHARED_STATE}
    local none = { sets = {}, removals = {} }
    local userWrites = writesShared and takeWrites() or none
    local appWrites = none
    if writesShared then appWrites = APP_STATE and takeWrites() or take() end
    local userExpiry, appExpiry = expiryOfState(USER_STATE), APP_STATE and expiryOfState(APP_STATE)
    if ttl and writesShared then
      local bytes = excessAfter(USER_STATE, userExpiry, userWrites, request.userMost)
      if bytes then return reply('stateFull', { 'user', text(bytes) }) end
      bytes = APP_STATE and excessAfter(APP_STATE, appExpiry, appWrites, request.appMost)
      if bytes then return reply('stateFull', { 'app', text(bytes) }) end
    end
    writeShared = ttl and function(seq)
      local userDue = writeState(USER_STATE, userExpiry, userWrites, tonumber(userTtl), tonumber(userRenewBelow))
      if APP_STATE then
        return userDue, writeState(APP_STATE, appExpiry, appWrites, tonumber(appTtl), tonumber(appRenewBelow))
      end
      if appWrites ~= none and appWrites ~= '' then redis.call('HSET', PENDING, seq, appWrites) end
      return userDue
    end
  end

  local metadata
  if request and request.metadata then
    ${METADATA}
    nameAllKeys()
    ${SESSION_ENTRIES}
    metadata = metadataAfter(redis.call('HGET', RECORD, 'metadata'), takeMetadata())
    if not metadata then return reply('full') end
    expectEntries()
    indexMetadata = function() indexEntries(SESSION_ID, tonumber(created), metadata) end
  end

  ${SIZE_AFTER_UPSERTS}
  if not APP_STATE then redis.call('HLEN', PENDING) end
  MEMBER_OF_APP = USER_ID .. '\0' .. SESSION_ID
  local updatedBefore = tonumber(updated)
  if ttl then
    expiry = expiresAt(ttl)
    if now > updatedBefore then updated = timeText end
    if APP_STATE and math.min(expiry, expiryBefore, expiresAt(tonumber(userTtl)), expiresAt(tonumber(appTtl))) >= NEVER then
      redis.call('ZCARD', BY_UPDATE)
      redis.call('ZCARD', APP_BY_UPDATE)
    else
      nameAllKeys()
      ${REGISTRY}
      ${SESSION_INDEXES}
      ${SESSION_REGISTRATION}
      countIndexes(isExpiring(expiry, expiryBefore))
      local registry = readRegistry(math.min(expiry, expiresAt(tonumber(userTtl)), expiresAt(tonumber(appTtl))))
      renew = function(userDue, appDue)
        indexSession(math.max(updatedBefore, now), nil, expiry, expiryBefore)
        register(registry, expiry, expiryBefore, userDue, appDue)
      end
    end
  end
  if not isWaiting or expiry ~= expiryBefore then
    ${CHANGED_SESSIONS}
    before = { waiting = isWaiting and 1 or 0, expires = expiryBefore }
    readChanged(before)
    noteChanged = function() noteChange(before, expiry) end
    if not isWaiting then dispatched, waiting = last, waitingFrom() end
  end

  -- The first write.
  local highest = tonumber(water)
  if now > highest then highest, water = now, timeText end
  local seq
  local texts, ids = {}, {}
  for index = 1, count do
    local at = firstText + 3 * index - 3
    local timestamp, id = tonumber(timestamps[index]), fields[index]
    seq = text(lastSeq + index)
    if timestamp > highest then highest, water = timestamp, text(timestamp) end
    texts[2 * index - 1] = seq
    texts[2 * index] = timeText .. '\n' .. water .. '\n' .. checksums[index] .. '\n' .. id .. '\n' .. ARGV[at + 2]
    ids[2 * index - 1], ids[2 * index] = id, seq
    local group = groupsOf[index]
    if group ~= '' then runs[group] = runsWith(runs[group], seq) end
  end
  for place, group in ipairs(groups) do
    ids[#ids + 1] = fields[count + place]
    ids[#ids + 1] = runs[group]
  end
  for first = 1, #texts, 2000 do
    redis.call('HSET', EVENTS, unpack(texts, first, math.min(first + 1999, #texts)))
  end
  for first = 1, #ids, 2000 do redis.call('HSET', IDS, unpack(ids, first, math.min(first + 1999, #ids))) end
  for index = 1, isAnchored and count or 0 do
    if anchors[index] == '1' then redis.call('ZADD', ANCHORS, texts[2 * index - 1], texts[2 * index - 1]) end
  end

  -- From here on, seq is the number of the last event.
  local previousTip = tip
  last = seq
  ${ALL_COUNTER_FIELDS.map((field) => `if ${field}Added ~= '0' then ${field} = text(${field} + ${field}Added) end`).join('\n  ')}
  if newMarks then
    local later = string.match(rest, ${PATTERN_AFTER_MARKS})
    local marked = text(lastSeq + 1)
    local summary = newMarks.summary == '@' and marked or newMarks.summary
    rest = table.concat({ '', (string.gsub(newMarks.hidden, '@', marked)), newMarks.viewFrom, summary, marked, newMarks.covered }, '\n') .. later
  end
  ${NOTE_SIZE}
  if ttl then
    tip = seq
    if expiry ~= expiryBefore then expires = text(expiry) end
  end
  local after = table.concat({ ${HOT_FIELDS.join(', ')} }, '\n') .. rest
  if endedTurn or metadata then
    local changes = { 'record', after }
    if endedTurn then changes[3], changes[4], turn = 'turn', endedTurn, endedTurn end
    if metadata then changes[#changes + 1], changes[#changes + 2] = 'metadata', metadata end
    changeRecord(RECORD, unpack(changes))
  else
    changeRecord(RECORD, 'record', after)
  end

  if upserts == 2 then
    redis.call('HSET', STATE, ARGV[firstUpsert], ARGV[firstUpsert + 1], ARGV[firstUpsert + 2], ARGV[firstUpsert + 3])
  else
    for first = firstUpsert, firstRemoval - 1, 2000 do
      redis.call('HSET', STATE, unpack(ARGV, first, math.min(first + 1999, firstRemoval - 1)))
    end
  end
  for index = firstRemoval, firstRemoval + removals - 1 do redis.call('HDEL', STATE, ARGV[index]) end
  if request and request.endsPartials then
    ${END_PARTIALS}
  end
  if indexMetadata then indexMetadata() end
  if addUsage then addUsage(seq) end
  local userDue, appDue
  if writeShared then userDue, appDue = writeShared(seq) end
  if renew then
    renew(userDue, appDue)
  elseif ttl then
    redis.call('ZADD', BY_UPDATE, updated, SESSION_ID)
    redis.call('ZADD', APP_BY_UPDATE, updated, MEMBER_OF_APP)
  end
  if expiry < NEVER or expiryBefore < NEVER then
    if not KEYS then nameAllKeys() end
    expireSession(expiry, expiryBefore)
  end
  if noteChanged then noteChanged() end
  announce(incarnation .. ' ' .. seq)
  local written = timeText .. '\n' .. previousTip .. '\n' .. recordReply(after, turn)
  if APP_STATE then return written end
  return { written, pendingWrites(), timeOfServer }
end

for _, index in ipairs(others) do
  position = starts[index]
  replies[index] = outcomeOf(appendCommit, RECORDS[index])
end
return replies
`,
);
