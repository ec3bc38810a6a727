import { ARGUMENTS } from './arguments.lua.js';
import { script } from './script.js';
import { SESSION } from './session.lua.js';
import { SHARED_STATE } from './shared-state.lua.js';
import { TIME } from './time.lua.js';

/**
 * Deletes a session with all its keys. On a cluster not while something is pending, unless told so.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV then: whatever is pending (1 or 0).
 * Result: { deleted (1 or 0), whether it was the user's last session (1 or 0), pending, real time, incarnation }.
 */
export const DELETE_SESSION = script(
  'delete-session',
  TIME,
  ARGUMENTS,
  SHARED_STATE,
  SESSION,
  String.raw`
local isForced = take() == '1'
local incarnation = redis.call('HGET', RECORD, 'incarnation')
if not incarnation then return { 1, 0, {}, text(wall), '' } end
local pending = pendingWrites()
if #pending > 0 and not isForced then return { 0, 0, pending, text(wall), incarnation } end

removeSession()
announce(incarnation)
local wasLast = redis.call('ZCARD', INDEXES[1].by[1]) == 0
-- Also state that expired is something that a purge has to find.
local stateExpiry = tonumber(redis.call('HGET', USER_STATE, '')) or NEVER
if wasLast and USERS and stateExpiry >= NEVER then redis.call('ZREM', USERS, USER_ID) end
return { 1, wasLast and 1 or 0, pending, text(wall), incarnation }
`,
);
