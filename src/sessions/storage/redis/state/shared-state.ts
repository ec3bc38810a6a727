import type { Lifetime } from '../../../domain/values/expiry.js';
import { type StateOwner, scopeOfOwner } from '../../../domain/values/ids.js';
import {
  type StateLimits,
  type StateSize,
  readExcessError,
  writeExcessError,
} from '../../../domain/stored/state-size.js';
import type { SharedScope, StateEntries, WriteStateRequest } from '../../session-storage.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import type { RedisKeys } from '../redis-keys.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import {
  type FlatHash,
  excessFrom,
  flag,
  lifetimeArguments,
  limitArguments,
  optional,
  sharedStateOf,
  sizesOf,
  writeArguments,
} from '../script/codec.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { REGISTRY, SHARED_STATE } from '../script/shared-state.lua.js';

interface ReadStateOptions {
  readonly renew?: Lifetime | undefined;
  readonly withEntries?: boolean;
  readonly limits?: StateLimits | undefined;
}

/** Reads the state of a user or an app. With a lifetime, it also renews the state when that is due. */
export async function readSharedState(
  scripts: ScriptRunner,
  keys: RedisKeys,
  owner: StateOwner,
  { renew, withEntries = true, limits }: ReadStateOptions = {},
): Promise<SharedScope & { now: number }> {
  const scope = scopeOfOwner(owner);
  const args = [...lifetimeArguments(renew), flag(withEntries), ...limitArguments(limits, [scope])];
  const call = { keys: [keys.stateOf(owner)], args };
  const run = renew ? scripts.write.bind(scripts) : scripts.read.bind(scripts);
  const [now, state, bytes] = await run<readonly [now: string, state: FlatHash, bytes?: string]>(READ_STATE, call);
  if (bytes !== undefined) throw readExcessError(excessFrom(scope, bytes, limits), owner);
  return { ...sharedStateOf(state), now: Number(now) };
}

export async function writeSharedState(
  scripts: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  { owner, upserts, removals, lifetime, maxStateBytes }: WriteStateRequest,
): Promise<StateEntries> {
  const { appName, userId } = owner;
  const scope = scopeOfOwner(owner);
  const [state, due, problem, bytes = ''] = await scripts.write<WriteReply>(WRITE_STATE, {
    keys: [keys.stateOf(owner), ...app.registryKeys(appName)],
    args: [
      optional(userId),
      appName,
      ...limitArguments(maxStateBytes, [scope]),
      ...lifetimeArguments(lifetime),
      ...writeArguments({ upserts, removals }),
    ],
  });
  const excess = excessFrom(scope, bytes, maxStateBytes);
  if (problem === 'full') throw writeExcessError(excess);
  if (due !== null) await afterWrite(() => app.register(owner, Number(due)));
  if (problem === 'large') throw readExcessError(excess, owner, true);
  return sharedStateOf(state).entries;
}

type WriteReply = readonly [state: FlatHash, due: string | null, problem?: 'full' | 'large', bytes?: string];

/** Counts the state of a session, a user or an app. */
export async function countedState(
  scripts: ScriptRunner,
  stateKey: string,
  isShared: boolean,
): Promise<Required<StateSize>> {
  return sizesOf(await scripts.read<FlatHash>(COUNT_STATE, { keys: [stateKey], args: [flag(isShared)] }));
}

/**
 * Counts state.
 *
 * KEYS 1 state.
 * ARGV 1 time, 2 whether it is shared, so that it may have expired (1 or 0).
 * Returns alternating the names of keys and their bytes.
 */
export const COUNT_STATE = defineScript(
  'count-state',
  TIME,
  SHARED_STATE,
  String.raw`
if ARGV[2] == '1' and not expiryOfState(KEYS[1]) then return {} end
local sizes = {}
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  if name ~= '' then
    sizes[#sizes + 1] = name
    sizes[#sizes + 1] = text(#name + redis.call('HSTRLEN', KEYS[1], name))
  end
end
return sizes
`,
);

/**
 * Reads shared state and renews it when that is due.
 *
 * KEYS 1 state.
 * ARGV 1 time, 2 ttl ('' = renews nothing), 3 renewal threshold, 4 with entries (1 or 0), 5 most bytes ('' = any).
 * Returns { now, alternating names and values, with the expiry under ''; if these are too large nothing, and their bytes }.
 */
export const READ_STATE = defineScript(
  'read-state',
  TIME,
  SHARED_STATE,
  String.raw`
local ttl, renewBelow = tonumber(ARGV[2]), tonumber(ARGV[3])
local expiry, bytesBefore = expiryOfState(KEYS[1])
if not expiry then return { text(now), {} } end
-- If Redis is out of memory, the renewal fails and the read still succeeds.
if ttl and expiry - now < renewBelow then pcall(renewState, KEYS[1], expiresAt(ttl), bytesBefore) end
if ARGV[4] == '1' then
  local entries, most = readState(KEYS[1]), tonumber(ARGV[5])
  local bytes = most and bytesOfState(entries)
  if bytes and bytes > most then return { text(now), {}, text(bytes) } end
  return { text(now), entries }
end
return { text(now), { '', redis.call('HGET', KEYS[1], '') } }
`,
);

/**
 * Writes shared state.
 *
 * KEYS 1 state; on a single node also 2 users of the app, 3 apps.
 * ARGV 1 time, 2 user id ('' = state of the app), 3 app name, 4 most bytes ('' = any), then ttl, renewal threshold, writes.
 * Returns { alternating names and values, the expiry if the state is new or now expires earlier }; with too many bytes these follow,
 *      after 'full' if nothing was written, and after 'large' if it is only too much to return.
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
local most = tonumber(ARGV[4])
local expiry, bytesBefore = expiryOfState(KEYS[1])
local excess = excessAfter(KEYS[1], expiry, writes, most)
if excess then return { {}, false, 'full', text(excess) } end
local due = writeState(KEYS[1], expiry, bytesBefore, writes, ttl, renewBelow)
if KEYS[2] and due then
  if ARGV[2] ~= '' then registerUser(KEYS[2], ARGV[2], registered, due, due) end
  registerApp(KEYS[3], ARGV[3], isFirst, due)
end
local entries = readState(KEYS[1])
local bytes = most and bytesOfState(entries)
if bytes and bytes > most then return { {}, due and text(due) or false, 'large', text(bytes) } end
return { entries, due and text(due) or false }
`,
);
