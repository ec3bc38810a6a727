import { ARGUMENTS } from './arguments.lua.js';
import { REGISTRY } from './registry.lua.js';
import { script } from './script.js';
import { SESSION, SESSION_REGISTRATION } from './session.lua.js';
import { SHARED_STATE } from './shared-state.lua.js';
import { TIME } from './time.lua.js';

/**
 * Renews what is alive.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV then: incarnation; ttl of session, user state and app state, '' = stays as it is.
 * Result: { pending, real time, incarnation or nothing }.
 */
export const TOUCH_SESSION = script(
  'touch-session',
  TIME,
  ARGUMENTS,
  SHARED_STATE,
  REGISTRY,
  SESSION,
  SESSION_REGISTRATION,
  String.raw`
local incarnation, ttl, userTtl, appTtl = take(), takeNumber(), takeNumber(), takeNumber()
local record = liveRecord()
if record and record.incarnation == incarnation and ttl then
  local expiry = expiresAt(ttl)
  redis.call('HSET', RECORD, 'expires', text(expiry))
  indexSession(nil, nil, expiry, record.expires)
  register(expiry, record.expires)
  expireSession(expiry, record.expires)
end
if userTtl then touchState(USER_STATE, userTtl) end
if appTtl and APP_STATE then touchState(APP_STATE, appTtl) end
return { pendingWrites(), text(wall), record and record.incarnation }
`,
);
