import { ARGUMENTS } from './arguments.lua.js';
import { REGISTRY } from './registry.lua.js';
import { script } from './script.js';
import { SHARED_STATE } from './shared-state.lua.js';
import { TIME } from './time.lua.js';

/**
 * On a cluster: does in the slot of an app what the scripts of a session left as pending, each once. How far
 * that came is kept for an hour; what was read half an hour ago is refused, since it may have been done and
 * forgotten.
 *
 * KEYS 1 app state, 2 users of the app, 3 how far the writes of this session were applied.
 * ARGV 1 time, 2 user id, 3 when something of the user may expire ('' = the user is known), 4 until when the user is to
 *      be known, then the real time when the writes were read, their number, and of each, in the order of the log, the
 *      number of its event, ttl, what is worth renewing, writes.
 * Result: { done (1) or too late (0), when the app state expires, if it is new or expires earlier than before }.
 */
export const APPLY_APP_WRITES = script(
  'apply-app-writes',
  TIME,
  ARGUMENTS,
  SHARED_STATE,
  REGISTRY,
  String.raw`
local KEPT_MS, TOO_LATE_MS = 3600000, 1800000
local readAt, count = takeNumber(), takeNumber()
if wall - readAt > TOO_LATE_MS then return { 0, false } end

local applied = tonumber(redis.call('GET', KEYS[3])) or -1
local due
for _ = 1, count do
  local seq, ttl, renewBelow, writes = takeNumber(), takeNumber(), takeNumber(), takeWrites()
  if seq > applied then
    due = writeState(KEYS[1], writes, ttl, renewBelow) or due
    applied = seq
  end
end
if count > 0 then redis.call('SET', KEYS[3], text(applied), 'PX', KEPT_MS) end
if ARGV[3] ~= '' then registerUser(KEYS[2], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])) end
return { 1, due and text(due) or false }
`,
);

/**
 * Takes away what is no longer pending; what changed meanwhile stays.
 *
 * KEYS 1 pending.
 * ARGV 1 time, then fields and what they held, in turn.
 * Result: nothing.
 */
export const CLEAR_PENDING = script(
  'clear-pending',
  String.raw`
for index = 2, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[index]) == ARGV[index + 1] then redis.call('HDEL', KEYS[1], ARGV[index]) end
end
`,
);

/**
 * Makes an app known, or a user, to those who look for what expired.
 *
 * KEYS 1 apps, or users of an app.
 * ARGV 1 time, 2 app name, or '' and then 3 user id, 4 when something of the user may expire; last, until when it is to
 *      be known.
 * Result: nothing.
 */
export const REGISTER = script(
  'register',
  TIME,
  REGISTRY,
  String.raw`
if ARGV[2] == '' then
  registerUser(KEYS[1], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]))
else
  registerApp(KEYS[1], ARGV[2], tonumber(ARGV[3]))
end
`,
);

/**
 * A stretch of the users of an app.
 *
 * KEYS 1 users.
 * ARGV 1 time, 2 first place, 3 last place.
 * Result: user ids.
 */
export const LIST_USERS = script('list-users', `return redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3])`);
