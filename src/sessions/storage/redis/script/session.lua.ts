import { KEY_TYPES } from './base.lua.js';
import { recordPattern, STATE_HAS_KEYS } from './codec.js';
import { ENTRY_INDEX } from './metadata.lua.js';
import { SESSION_KEYS } from './session-keys.lua.js';

/** The numbers that scripts use, besides the expiry. */
const NUMBERS = ['created', 'first', 'last', 'updated', 'waiting', 'viewFrom', 'summary', 'stateBytes'] as const;
const [CREATED, ...OTHERS] = NUMBERS;

/** How scripts read a record: the field `record` of its hash, with one line for each value. */
export const RECORD_TEXT = String.raw`
local function readRecord(key)
  return redis.call('HGET', key, 'record')
end
`;

/** How scripts read a session's own state that is one text. */
export const OWN_STATE = String.raw`
-- Nil if the state is a hash of keys.
local function textOfState(stored)
  if stored and stored ~= '${STATE_HAS_KEYS}' then return stored end
end

local function ownStateText(record)
  return textOfState(redis.call('HGET', record, 'state'))
end
`;

/** The record of a session. Needs TIME and SESSION_KEYS. */
const RECORD =
  RECORD_TEXT +
  String.raw`
-- What scripts use of the record, and its text. Nil if the session is missing or has expired.
local function liveRecord()
  local record = readRecord(RECORD)
  local incarnation, ${CREATED}, expires, ${OTHERS.join(', ')} =
    string.match(record or '', ${recordPattern('incarnation', CREATED, 'expires', ...OTHERS)})
  expires = tonumber(expires)
  if not expires or expires <= now then return nil end
  return {
    text = record, incarnation = incarnation, expires = expires,
    ${NUMBERS.map((name) => `${name} = tonumber(${name}) or 0`).join(', ')}
  }
end
`;

/** The indexes of the sessions of a user and an app by time. Needs TIME and SESSION_KEYS. */
export const SESSION_INDEXES = String.raw`
local INDEXES = { { by = { unpack(KEYS, 7, 11) }, member = SESSION_ID } }
if APP_STATE then INDEXES[2] = { by = { unpack(KEYS, 14, 17) }, member = MEMBER_OF_APP } end

-- Counts the members of the indexes. Call it before the first write.
local function countIndexes(withExpiring)
  for _, index in ipairs(INDEXES) do
    index.size = redis.call('ZCARD', index.by[1])
    if withExpiring then
      index.expiring = redis.call('ZCARD', index.by[3])
      index.wasEndless = index.size > index.expiring
    end
  end
end

-- An index expires with its last member, or never if a member never expires.
local function renewIndex(index)
  if index.size > index.expiring then
    if not index.wasEndless then expireKeys(index.by, NEVER) end
  else
    local latest = redis.call('ZRANGE', index.by[3], -1, -1, 'WITHSCORES')[2]
    if latest then expireKeys(index.by, tonumber(latest)) end
  end
end

-- Whether a change of expiry concerns the indexes of expiring sessions.
local function isExpiring(expiry, previousExpiry)
  return math.min(expiry, previousExpiry) < NEVER
end

-- Pass nil for times that did not change; the expiry is always needed.
local function indexSession(updated, created, expiry, previousExpiry)
  for _, index in ipairs(INDEXES) do
    local by, member = index.by, index.member
    if updated then index.size = index.size + redis.call('ZADD', by[1], text(updated), member) end
    if created then redis.call('ZADD', by[2], text(created), member) end
    if isExpiring(expiry, previousExpiry) then
      if expiry < NEVER then
        index.expiring = index.expiring + redis.call('ZADD', by[3], text(expiry), member)
      elseif index.expiring > 0 then
        index.expiring = index.expiring - redis.call('ZREM', by[3], member)
      end
      renewIndex(index)
    end
  end
end

local function unindex(index, member)
  index.size = index.size - redis.call('ZREM', index.by[1], member)
  redis.call('ZREM', index.by[2], member)
  index.expiring = index.expiring - redis.call('ZREM', index.by[3], member)
end
`;

/** The index by entry of metadata. Needs SESSION_KEYS. */
export const SESSION_ENTRIES =
  ENTRY_INDEX +
  String.raw`
local ENTRIES = KEYS[11]
local BY_ENTRY = { { key = KEYS[10], prefix = '' }, APP_STATE and { key = KEYS[17], prefix = USER_ID .. '\0' } }

-- Call it before the first write of entries.
local function expectEntries()
  redis.call('HLEN', ENTRIES)
  for _, index in ipairs(BY_ENTRY) do redis.call('ZCARD', index.key) end
end

-- Makes the index by entry agree with the metadata; with nil, the session leaves it.
local function indexEntries(sessionId, created, metadata)
  replaceEntries(ENTRIES, BY_ENTRY, sessionId, created, metadata)
end
`;

/**
 * The sessions with events that are not dispatched to consumers, by the time of the first one. Only the first event after
 * a dispatch changes it. It expires with its last member. Needs TIME and SESSION_KEYS.
 */
export const CHANGED_SESSIONS = String.raw`
local CHANGED_MEMBER = APP_NAME .. '\0' .. MEMBER_OF_APP

-- isFirst: whether there was no other before the first write.
local function noteChange(since, expiry, isFirst)
  redis.call('ZADD', CHANGED, since, CHANGED_MEMBER)
  extendExpiry(CHANGED, expiry, isFirst)
  -- On a cluster, a hint follows.
  if APP_STATE then redis.pcall('PUBLISH', CHANGED, '') end
end
`;

/** What follows every write to a session. Needs TIME and SESSION_KEYS. */
export const SESSION_ENDING = String.raw`
-- All keys of a session expire together, except partial events, which expire by themselves.
local function expireSession(expiry, previousExpiry)
  if expiry < NEVER or (previousExpiry or NEVER) < NEVER then expireKeys({ unpack(KEYS, 1, 4) }, expiry) end
end

-- Publishes the incarnation and the last seq (no seq after a delete) to watchers. The write has already happened, so a
-- refusal is ignored. On a cluster the channel is sharded: it is in the slot of the session.
local function announce(message)
  redis.pcall(APP_STATE and 'PUBLISH' or 'SPUBLISH', RECORD, message)
end

-- A single node has no pending writes.
local function pendingWrites()
  return APP_STATE and {} or redis.call('HGETALL', PENDING)
end
`;

/** What the scripts of one session share. KEYS and ARGV 1–4: see SESSION_KEYS. Needs TIME. */
export const SESSION = [
  SESSION_KEYS,
  OWN_STATE,
  RECORD,
  KEY_TYPES,
  SESSION_INDEXES,
  SESSION_ENTRIES,
  CHANGED_SESSIONS,
  SESSION_ENDING,
  String.raw`
local function removeSession()
  redis.call('UNLINK', unpack(KEYS, 1, 5))
  indexEntries(SESSION_ID)
  redis.call('ZREM', CHANGED, CHANGED_MEMBER)
  for _, index in ipairs(INDEXES) do
    unindex(index, index.member)
    renewIndex(index)
  end
end
`,
].join('\n');

/** Checkpoints: fields of the record, at multiples of a number. Needs SESSION. */
export const CHECKPOINTS = String.raw`
local function checkpointField(seq)
  return 'checkpoint:' .. text(seq)
end

-- Nil if the session never had one.
local function firstCheckpoint()
  return tonumber(redis.call('HGET', RECORD, 'checkpoints'))
end

-- Text and seq of the newest one up to seq. They are regular, so few places are looked at.
local function checkpointUpTo(seq, distance)
  local first = firstCheckpoint()
  if not first then return end
  for place = math.floor(seq / distance) * distance, first, -distance do
    local found = redis.call('HGET', RECORD, checkpointField(place))
    if found then return found, place end
  end
end

local function removeCheckpoints(from, to, distance)
  local first = firstCheckpoint()
  if not first then return end
  for place = math.floor(math.max(from, first) / distance) * distance, to, distance do
    redis.call('HDEL', RECORD, checkpointField(place))
  end
end
`;

/**
 * Registers the app and the user of a session, for lists on a cluster and for the purge. Needs SESSION and REGISTRY.
 *
 * On a cluster the record stores until when the user is registered. That is twice the lifetime of the session, so
 * few appends have to register it again.
 */
export const SESSION_REGISTRATION = String.raw`
local function leaveRegistrationPending(due, untilTime)
  local pending = redis.call('HGET', PENDING, 'register')
  if pending then
    local pendingDue, pendingUntil = string.match(pending, '(%d+) (%d+)')
    due = math.min(due, tonumber(pendingDue))
    untilTime = math.max(untilTime, tonumber(pendingUntil))
  end
  redis.call('HSET', PENDING, 'register', text(due) .. ' ' .. text(untilTime))
  redis.call('HSET', RECORD, 'known', text(untilTime))
end

-- Call it before the first write, with the first expiry that the script may set. Nil if there is nothing to register: on a
-- cluster, where the registry is in another slot, and for data that never expires of a user who is registered for it.
local function readRegistry(firstExpiry)
  if not APP_STATE then return end
  local userDue = registeredDue(USERS, USER_ID)
  if userDue == NEVER and firstExpiry >= NEVER then return end
  return { userDue = userDue, isFirstApp = isFirstApp(APPS) }
end

-- userDue and appDue: the expiry of shared state that is new or now expires earlier.
local function register(registry, expiry, previousExpiry, userDue, appDue)
  local due = math.min(expiry, userDue or NEVER)
  if APP_STATE then
    if not registry then return end
    if expiry ~= previousExpiry or userDue then
      registerUser(USERS, USER_ID, registry.userDue, due, math.max(expiry, userDue or 0))
    end
    if expiry ~= previousExpiry or userDue or appDue then
      registerApp(APPS, APP_NAME, registry.isFirstApp, math.max(expiry, userDue or 0, appDue or 0))
    end
    return
  end
  local registeredUntil = tonumber(redis.call('HGET', RECORD, 'known')) or 0
  if not previousExpiry or expiry > registeredUntil or expiry < previousExpiry or userDue then
    leaveRegistrationPending(due, math.max(expiresAt(2 * (expiry - now)), registeredUntil, userDue or 0))
  end
end
`;

/** Removes partial events, as `partialsLeft` says: those of `ended` messages, or 'all'. Needs SESSION_KEYS. */
export const END_PARTIALS = String.raw`
local function endPartials(ended)
  if ended == 'all' then return redis.call('UNLINK', PARTIALS) end
  local isEnded = {}
  for _, message in ipairs(ended) do isEnded[message] = true end
  for _, partial in ipairs(redis.call('ZRANGE', PARTIALS, 0, -1)) do
    local message = string.match(partial, '^[^\n]*\n[^\n]*\n[^\n]*\n([^\n]*)')
    if isEnded[message] then redis.call('ZREM', PARTIALS, partial) end
  end
end
`;
