import { ARGUMENTS } from './arguments.lua.js';
import { KEY_NAMES } from './key-names.lua.js';
import { REGISTRY } from './registry.lua.js';
import { script } from './script.js';
import { SESSION, SESSION_REGISTRATION } from './session.lua.js';
import { SHARED_STATE } from './shared-state.lua.js';
import { TIME } from './time.lua.js';

/**
 * Makes a session, unless a live one is there; one of the same incarnation is this very one, sent again.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV then: incarnation, base state, ttl of session, user and app state with what is worth renewing of the
 *      latter two, writes to session and user state, writes to the app state (on a cluster: as one text, '' for none);
 *      of the log to begin with: tip, high water, turns, events, length, tokens, hidden ranges, viewFrom, summary, marks,
 *      what the summary covers,
 *      numbers of its anchors in one text, how many events, and each of them, packed.
 * Result: nothing, or { now, record, session state, user state, app state, pending, real time }.
 */
export const CREATE_SESSION = script(
  'create-session',
  TIME,
  ARGUMENTS,
  KEY_NAMES,
  SHARED_STATE,
  REGISTRY,
  SESSION,
  SESSION_REGISTRATION,
  String.raw`
local incarnation, base = take(), take()
local ttl, userTtl, userRenewBelow = takeNumber(), takeNumber(), takeNumber()
local appTtl, appRenewBelow = takeNumber(), takeNumber()
local ownWrites, userWrites = takeWrites(), takeWrites()
local appWrites = APP_STATE and takeWrites() or take()
local tip, water = take(), take()
local turns, counted, length, tokens = take(), take(), take(), take()
local hidden, viewFrom, summary, marks, covered = take(), take(), take(), take(), take()
local anchors, last = take(), takeNumber()

local function answer()
  local appState = APP_STATE and readState(APP_STATE) or {}
  return { text(now), readRecord(), redis.call('HGETALL', STATE), readState(USER_STATE), appState, pendingWrites(), text(wall) }
end

local live = liveRecord()
if live then return live.incarnation == incarnation and answer() or false end

-- What the server removed is still in the indexes; each new session makes up for some of that.
local function sweepIndexes()
  local by = INDEXES[1].by
  local base = string.sub(RECORD, 1, #RECORD - #encode(SESSION_ID))
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', by[3], '-inf', text(now), 'LIMIT', 0, 16)) do
    if redis.call('EXISTS', base .. encode(id)) == 0 then
      for _, key in ipairs(by) do redis.call('ZREM', key, id) end
      if INDEXES[2] then
        for _, key in ipairs(INDEXES[2].by) do redis.call('ZREM', key, USER_ID .. '\0' .. id) end
      end
    end
  end
end

clearAway(unpack(OWN_KEYS))
sweepIndexes()
local expiry, time = expiresAt(ttl), text(now)
redis.call('HSET', RECORD, 'incarnation', incarnation, 'created', time, 'updated', time, 'expires', text(expiry),
  'first', 1, 'last', text(last), 'tip', tip, 'water', water,
  'turns', turns, 'events', counted, 'length', length, 'tokens', tokens,
  'hidden', hidden, 'viewFrom', viewFrom, 'summary', summary, 'marks', marks, 'covered', covered,
  'base', base)
-- Many fields at a time take half as long; Lua unpacks only so many.
for first = 1, last, 1000 do
  local events, ids = {}, {}
  for number = first, math.min(first + 999, last) do
    local event, seq = take(), text(number)
    local place = 2 * (number - first) + 1
    events[place], events[place + 1] = seq, event
    ids[place], ids[place + 1] = string.match(event, '^[^\n]*\n[^\n]*\n[^\n]*\n([^\n]*)'), seq
  end
  redis.call('HSET', EVENTS, unpack(events))
  redis.call('HSET', IDS, unpack(ids))
end
for seq in string.gmatch(anchors, '%d+') do redis.call('ZADD', ANCHORS, seq, seq) end
writeEntries(STATE, ownWrites)
local userDue = writeState(USER_STATE, userWrites, userTtl, userRenewBelow)
local appDue
if APP_STATE then
  appDue = writeState(APP_STATE, appWrites, appTtl, appRenewBelow)
elseif appWrites ~= '' then
  redis.call('HSET', PENDING, 0, appWrites)
end
indexSession(now, now, expiry, 0)
register(expiry, nil, userDue, appDue)
expireSession(expiry, nil)
return answer()
`,
);
