import { ARGUMENTS } from './arguments.lua.js';
import { REGISTRY } from './registry.lua.js';
import { script } from './script.js';
import { SESSION, SESSION_REGISTRATION } from './session.lua.js';
import { SHARED_STATE } from './shared-state.lua.js';
import { TIME } from './time.lua.js';

/**
 * Writes a commit, or says why not. Everything is checked before the first write.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV then: event id, digest, timestamp, anchor (1 or 0), payload; incarnation, expectedVersion, lastSeq, firstSeq and
 *      marksSeq that are asked for ('' = any); increments of turns, events, length and tokens; hidden ranges (@ stands
 *      for the event's own number, '-' for marks that stay as they are), viewFrom, summary, what it covers; ttl of the session ('' = the
 *      commit keeps nothing alive); of user and app state, each with what is worth renewing; writes to session and user
 *      state, writes to the app state (on a cluster: as one text, '' for none).
 * Result: { kind, now, record, pending, real time, then
 *      'appended': the previous tip; 'seen': number and text of the event }.
 */
export const APPEND_COMMIT = script(
  'append-commit',
  TIME,
  ARGUMENTS,
  SHARED_STATE,
  REGISTRY,
  SESSION,
  SESSION_REGISTRATION,
  String.raw`
local eventId, digest, timestamp, isAnchor, payload = take(), take(), take(), take() == '1', take()
local incarnation, expectedVersion = take(), takeNumber()
local expected = { last = takeNumber(), first = takeNumber(), marks = takeNumber() }
local increments = { turns = takeNumber(), events = takeNumber(), length = takeNumber(), tokens = takeNumber() }
local hidden, viewFrom, summary, covered = take(), take(), take(), take()
local ttl, userTtl, userRenewBelow = takeNumber(), takeNumber(), takeNumber()
local appTtl, appRenewBelow = takeNumber(), takeNumber()
local ownWrites, userWrites = takeWrites(), takeWrites()
local appWrites = APP_STATE and takeWrites() or take()

local function answer(kind, ...)
  return { kind, text(now), readRecord(), pendingWrites(), text(wall), ... }
end

local record = liveRecord()
if not record or (incarnation ~= '' and incarnation ~= record.incarnation) then return { 'missing' } end
local seen = redis.call('HGET', IDS, eventId)
-- Not what a script left that was stopped in the middle, as by a right that it lacked.
if seen and tonumber(seen) <= record.last then return answer('seen', seen, redis.call('HGET', EVENTS, seen)) end
if expectedVersion and (expectedVersion < record.tip or expectedVersion > record.last) then return answer('stale') end
for field, seq in pairs(expected) do
  if record[field] ~= seq then return answer('overtaken') end
end

local seq = text(record.last + 1)
local water = text(math.max(record.water, tonumber(timestamp), now))
redis.call('HSET', EVENTS, seq, table.concat({ text(now), water, digest, eventId, payload }, '\n'))
redis.call('HSET', IDS, eventId, seq)
if isAnchor then redis.call('ZADD', ANCHORS, seq, seq) end

local changes = { 'last', seq, 'water', water }
local function change(...)
  for _, value in ipairs({ ... }) do changes[#changes + 1] = value end
end
for counter, increment in pairs(increments) do
  if increment ~= 0 then change(counter, text(record[counter] + increment)) end
end
if hidden ~= '-' then
  if summary == '@' then summary = seq end
  change('hidden', (string.gsub(hidden, '@', seq)), 'viewFrom', viewFrom, 'summary', summary, 'marks', seq, 'covered', covered)
end
local expiry, updated = record.expires, record.updated
if ttl then
  expiry, updated = expiresAt(ttl), math.max(updated, now)
  change('tip', seq, 'updated', text(updated), 'expires', text(expiry))
end
redis.call('HSET', RECORD, unpack(changes))

writeEntries(STATE, ownWrites)
if ttl then
  local userDue = writeState(USER_STATE, userWrites, userTtl, userRenewBelow)
  local appDue
  if APP_STATE then
    appDue = writeState(APP_STATE, appWrites, appTtl, appRenewBelow)
  elseif appWrites ~= '' then
    redis.call('HSET', PENDING, seq, appWrites)
  end
  indexSession(updated, nil, expiry, record.expires)
  register(expiry, record.expires, userDue, appDue)
end
expireSession(expiry, record.expires)
announce(record.incarnation .. ' ' .. seq)
return answer('appended', text(record.tip))
`,
);
