import { KEY_NAMES } from './key-names.lua.js';
import { script } from './script.js';
import { SHARED_STATE } from './shared-state.lua.js';
import { TIME } from './time.lua.js';

/**
 * Removes the state of an app if it expired, and claims users of whom something may have expired.
 *
 * KEYS 1 app state, 2 users of the app.
 * ARGV 1 time, 2 whether the state may be removed (1 or 0), 3 how many users to claim at most, 4 the one user to claim,
 *      or '' for those that are due.
 * Result: { states removed, the claim, user id and time that it was due, in turn }.
 */
export const CLAIM_USERS = script(
  'claim-users',
  TIME,
  SHARED_STATE,
  String.raw`
local removed = 0
local expiry = tonumber(redis.call('HGET', KEYS[1], ''))
if ARGV[2] == '1' and expiry and expiry <= now then removed = redis.call('UNLINK', KEYS[1]) end

-- Whoever claimed may have died, so a claim ends after a minute.
local claim = string.format('%.1f', now + 60000.5)
local users
if ARGV[4] ~= '' then
  local due = redis.call('ZSCORE', KEYS[2], ARGV[4])
  users = due and { ARGV[4], due } or {}
else
  users = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', text(now), 'WITHSCORES', 'LIMIT', 0, ARGV[3])
end
for index = 1, #users, 2 do redis.call('ZADD', KEYS[2], claim, users[index]) end
return { removed, claim, users }
`,
);

/**
 * Removes what expired of a user.
 *
 * KEYS 1 what the keys of the user begin with; 2 by update, 3 by creation, 4 expiring: the user's sessions; 5 user
 *      state; and, only where all keys are on one node: 6 by update, 7 by creation, 8 expiring: the app's sessions.
 *      The keys of sessions are found through 4, so they cannot be named before.
 * ARGV 1 time, 2 user id, 3 how many sessions to remove at most, 4 whether the state may be removed (1 or 0).
 * Result: { sessions removed, states removed, when something may expire next, or '' if the user is not to be found }.
 */
export const PURGE_USER = script(
  'purge-user',
  TIME,
  KEY_NAMES,
  String.raw`
local KINDS = { 'session:', 'events:', 'ids:', 'anchors:', 'state:', 'pending:' }
local expired = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', text(now), 'LIMIT', 0, ARGV[3])
for _, sessionId in ipairs(expired) do
  for _, kind in ipairs(KINDS) do redis.call('UNLINK', KEYS[1] .. kind .. encode(sessionId)) end
  for index = 2, 4 do redis.call('ZREM', KEYS[index], sessionId) end
  for index = 6, #KEYS do redis.call('ZREM', KEYS[index], ARGV[2] .. '\0' .. sessionId) end
end

local statesRemoved = 0
local stateExpiry = tonumber(redis.call('HGET', KEYS[5], ''))
if ARGV[4] == '1' and stateExpiry and stateExpiry <= now then
  statesRemoved = redis.call('UNLINK', KEYS[5])
  stateExpiry = nil
end

local first = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')[2]
local due = math.min(tonumber(first) or NEVER, stateExpiry or NEVER)
local isFound = due < NEVER or redis.call('EXISTS', KEYS[2]) == 1
return { #expired, statesRemoved, isFound and text(due) or '' }
`,
);

/**
 * Gives back users that were claimed, where nobody registered them meanwhile.
 *
 * KEYS 1 users of the app.
 * ARGV 1 time, 2 the claim, then user id and when something may expire next, in turn; '' = the user is to be forgotten.
 * Result: nothing.
 */
export const RELEASE_USERS = script(
  'release-users',
  String.raw`
local claim = tonumber(ARGV[2])
for index = 3, #ARGV, 2 do
  local userId, due = ARGV[index], ARGV[index + 1]
  if tonumber(redis.call('ZSCORE', KEYS[1], userId)) == claim then
    if due == '' then redis.call('ZREM', KEYS[1], userId) else redis.call('ZADD', KEYS[1], due, userId) end
  end
end
`,
);

/**
 * All apps that are known.
 *
 * KEYS 1 apps.
 * ARGV 1 time.
 * Result: their names.
 */
export const LIST_APPS = script('list-apps', `return redis.call('ZRANGE', KEYS[1], 0, -1)`);
