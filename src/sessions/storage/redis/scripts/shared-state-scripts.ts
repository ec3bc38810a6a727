import { ARGUMENTS } from './arguments.lua.js';
import { REGISTRY } from './registry.lua.js';
import { script } from './script.js';
import { SHARED_STATE } from './shared-state.lua.js';
import { TIME } from './time.lua.js';

/**
 * Reads shared state and keeps it alive where that is due.
 *
 * KEYS 1 the state.
 * ARGV 1 time, 2 ttl ('' = keeps nothing alive), 3 what is worth renewing, 4 whether to answer with the entries (1 or 0).
 * Result: { now, names and values in turn, the expiry under '' }.
 */
export const READ_STATE = script(
  'read-state',
  TIME,
  SHARED_STATE,
  String.raw`
local ttl, renewBelow = tonumber(ARGV[2]), tonumber(ARGV[3])
local expiry = expiryOfState(KEYS[1])
if not expiry then return { text(now), {} } end
-- Where the memory is full, it is read all the same.
if ttl and expiry - now < renewBelow then pcall(renewState, KEYS[1], expiresAt(ttl)) end
if ARGV[4] == '1' then return { text(now), readState(KEYS[1]) } end
return { text(now), { '', redis.call('HGET', KEYS[1], '') } }
`,
);

/**
 * Renews shared state that is alive.
 *
 * KEYS 1 the state.
 * ARGV 1 time, 2 ttl.
 * Result: nothing.
 */
export const TOUCH_STATE = script(
  'touch-state',
  TIME,
  SHARED_STATE,
  String.raw`
touchState(KEYS[1], tonumber(ARGV[2]))
`,
);

/**
 * Writes shared state.
 *
 * KEYS 1 the state; and, only where all keys are on one node: 2 users of the app, 3 apps.
 * ARGV 1 time, 2 user id ('' = it is the app's), 3 app name, 4 nothing, then ttl, what is worth renewing, writes.
 * Result: { names and values in turn, when it expires if it is new or expires earlier than before }.
 */
export const WRITE_STATE = script(
  'write-state',
  TIME,
  ARGUMENTS,
  SHARED_STATE,
  REGISTRY,
  String.raw`
local ttl, renewBelow, writes = takeNumber(), takeNumber(), takeWrites()
local due = writeState(KEYS[1], writes, ttl, renewBelow)
if KEYS[2] and due then
  if ARGV[2] ~= '' then registerUser(KEYS[2], ARGV[2], due, due) end
  registerApp(KEYS[3], ARGV[3], due)
end
return { readState(KEYS[1]), due and text(due) or false }
`,
);
