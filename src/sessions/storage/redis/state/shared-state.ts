import type { Lifetime } from '../../../domain/expiry.js';
import type { StateEntries, WriteStateRequest } from '../../session-storage.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import type { RedisKeys } from '../redis-keys.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import {
  type FlatHash,
  type SharedState,
  flag,
  lifetimeArguments,
  optional,
  sharedStateOf,
  writeArguments,
} from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { REGISTRY, SHARED_STATE } from '../script/shared-state.lua.js';

/** Reads the state of a user or an app. With a lifetime, it also renews the state when that is due. */
export async function readSharedState(
  scripts: ScriptRunner,
  stateKey: string,
  { renew, withEntries = true }: { renew?: Lifetime | undefined; withEntries?: boolean } = {},
): Promise<SharedState & { now: number }> {
  const call = { keys: [stateKey], args: [...lifetimeArguments(renew), flag(withEntries)] };
  const run = renew ? scripts.write.bind(scripts) : scripts.read.bind(scripts);
  const [now, state] = await run<readonly [now: string, state: FlatHash]>(READ_STATE, call);
  return { ...sharedStateOf(state), now: Number(now) };
}

export async function writeSharedState(
  scripts: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  { owner, upserts, removals, lifetime }: WriteStateRequest,
): Promise<StateEntries> {
  const { appName, userId } = owner;
  const [state, due] = await scripts.write<readonly [state: FlatHash, due: string | null]>(WRITE_STATE, {
    keys: [keys.stateOf(owner), ...app.registryKeys(appName)],
    args: [optional(userId), appName, '', ...lifetimeArguments(lifetime), ...writeArguments({ upserts, removals })],
  });
  if (due !== null) await afterWrite(() => app.register(owner, Number(due)));
  return sharedStateOf(state).entries;
}

/**
 * Reads shared state and renews it when that is due.
 *
 * KEYS 1 state.
 * ARGV 1 time, 2 ttl ('' = renews nothing), 3 renewal threshold, 4 with entries (1 or 0).
 * Returns { now, alternating names and values, with the expiry under '' }.
 */
export const READ_STATE = defineScript(
  'read-state',
  TIME,
  SHARED_STATE,
  String.raw`
local ttl, renewBelow = tonumber(ARGV[2]), tonumber(ARGV[3])
local expiry = expiryOfState(KEYS[1])
if not expiry then return { text(now), {} } end
-- If Redis is out of memory, the renewal fails and the read still succeeds.
if ttl and expiry - now < renewBelow then pcall(renewState, KEYS[1], expiresAt(ttl)) end
if ARGV[4] == '1' then return { text(now), (readState(KEYS[1])) } end
return { text(now), { '', redis.call('HGET', KEYS[1], '') } }
`,
);

/**
 * Renews shared state that has not expired.
 *
 * KEYS 1 state.
 * ARGV 1 time, 2 ttl.
 * Returns nothing.
 */
export const TOUCH_STATE = defineScript(
  'touch-state',
  TIME,
  SHARED_STATE,
  String.raw`
if expiryOfState(KEYS[1]) then renewState(KEYS[1], expiresAt(tonumber(ARGV[2]))) end
`,
);

/**
 * Writes shared state.
 *
 * KEYS 1 state; on a single node also 2 users of the app, 3 apps.
 * ARGV 1 time, 2 user id ('' = state of the app), 3 app name, 4 unused, then ttl, renewal threshold, writes.
 * Returns { alternating names and values, the expiry if the state is new or now expires earlier }.
 */
export const WRITE_STATE = defineScript(
  'write-state',
  TIME,
  ARGUMENTS,
  SHARED_STATE,
  REGISTRY,
  String.raw`
local ttl, renewBelow, writes = takeNumber(), takeNumber(), takeWrites()
local registered, isFirst
if KEYS[2] and expiresAt(ttl) < NEVER then registered, isFirst = registeredDue(KEYS[2], ARGV[2]), isFirstApp(KEYS[3]) end
local due = writeState(KEYS[1], expiryOfState(KEYS[1]), writes, ttl, renewBelow)
if KEYS[2] and due then
  if ARGV[2] ~= '' then registerUser(KEYS[2], ARGV[2], registered, due, due) end
  registerApp(KEYS[3], ARGV[3], isFirst, due)
end
return { readState(KEYS[1]), due and text(due) or false }
`,
);
