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
 *      latter two, writes to session and user state, writes to the app state (on a cluster: as one text, '' for none).
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

redis.call('UNLINK', unpack(OWN_KEYS))
sweepIndexes()
local expiry, time = expiresAt(ttl), text(now)
redis.call('HSET', RECORD, 'incarnation', incarnation, 'created', time, 'updated', time, 'expires', text(expiry),
  'first', 1, 'last', 0, 'tip', 0, 'water', 0, 'turns', 0, 'events', 0, 'length', 0, 'tokens', 0,
  'hidden', '', 'viewFrom', 0, 'summary', 0, 'marks', 0, 'base', base)
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
