import { retryUndefined } from '../../../domain/retry-overtaken.js';
import type { DeleteRequest, TouchRequest } from '../../session-storage.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import type { RedisKeys } from '../redis-keys.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { type FlatHash, flag, keyArguments, luaPlaceOf, optional, recordPattern } from '../script/codec.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { SESSION, SESSION_REGISTRATION } from '../script/session.lua.js';
import { REGISTRY, SHARED_STATE } from '../script/shared-state.lua.js';
import { unregisterUser } from './purge-expired.js';

/**
 * Deletes a session. Pending writes are applied first, so that they are not lost with it. If others write each time, it is deleted even if
 * writes are pending.
 */
export async function deleteSession(
  scripts: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  { incarnation: wanted = '', expectedVersion, ...key }: DeleteRequest,
): Promise<void> {
  const attempt = async (isForced: boolean): Promise<true | undefined> => {
    const [deleted, wasLast, pending, readAt, incarnation] = await scripts.write<
      [deleted: NumberReply, wasLast: NumberReply, pending: FlatHash, readAt: string, incarnation: string]
    >(DELETE_SESSION, {
      keys: app.sessionKeys(key),
      args: [...keyArguments(key), flag(isForced), wanted, optional(expectedVersion)],
    });
    await afterWrite(async () => {
      await app.applyPending({ key, incarnation, pending, readAt });
      if (app.isCluster && Number(wasLast)) await unregisterUser(scripts, keys, key);
    });
    return Number(deleted) ? true : undefined;
  };
  if (!(await retryUndefined(() => attempt(false)))) await attempt(true);
}

/**
 * Deletes a session with all its keys. On a cluster it refuses while writes are pending, unless forced.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: force (1 or 0); the incarnation to delete ('' = any); the version to delete ('' = any), see isDeletable.
 * Returns { deleted (1 or 0), whether it was the user's last session (1 or 0), pending, server time, incarnation }.
 */
export const DELETE_SESSION = defineScript(
  'delete-session',
  TIME,
  ARGUMENTS,
  SHARED_STATE,
  SESSION,
  String.raw`
local isForced, wanted, expected = take() == '1', take(), takeNumber()
local incarnation, last, tip = string.match(readRecord(RECORD) or '', ${recordPattern('incarnation', 'last', 'tip')})
local isStale = expected and incarnation and (expected < (tonumber(tip) or 0) or expected > (tonumber(last) or 0))
if not incarnation or (wanted ~= '' and wanted ~= incarnation) or isStale then
  return { 1, 0, {}, text(serverTime), '' }
end
local pending = pendingWrites()
if #pending > 0 and not isForced then return { 0, 0, pending, text(serverTime), incarnation } end

countIndexes(true)
for _, index in ipairs(INDEXES) do expectSortedSets(index.by[2]) end
expectEntries()
expectSortedSets(CHANGED)
if USERS then expectSortedSets(USERS) end
-- The purge must still find the user if their state has expired but is not yet removed.
local stateExpiry = expiryIn(redis.call('HGET', USER_STATE, '')) or NEVER

removeSession()
announce(incarnation)
local wasLast = INDEXES[1].size == 0
if wasLast and USERS and stateExpiry >= NEVER then redis.call('ZREM', USERS, USER_ID) end
return { 1, wasLast and 1 or 0, pending, text(serverTime), incarnation }
`,
);

export async function touchSession(
  scripts: ScriptRunner,
  app: AppScope,
  { key, incarnation, renew }: TouchRequest,
): Promise<void> {
  const reply = await scripts.write<[pending: FlatHash, readAt: string, incarnation?: string]>(TOUCH_SESSION, {
    keys: app.sessionKeys(key),
    args: [
      ...keyArguments(key),
      incarnation,
      ...[renew.session, renew.user, renew.app].map((lifetime) => optional(lifetime?.ttlMs)),
    ],
  });
  const [pending, readAt, found = ''] = reply;
  await afterWrite(async () => {
    await app.applyPending({ key, incarnation: found, pending, readAt });
    if (renew.app) await app.touch(key.appName, renew.app);
  });
}

/**
 * Renews a session and its shared state, as far as they have not expired.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: incarnation; ttl of the session, of user state and of app state ('' = not renewed).
 * Returns { pending, server time, incarnation or nothing }.
 */
export const TOUCH_SESSION = defineScript(
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
local userExpiry, userBytes, appExpiry, appBytes
if userTtl then userExpiry, userBytes = expiryOfState(USER_STATE) end
if appTtl and APP_STATE then appExpiry, appBytes = expiryOfState(APP_STATE) end
if not APP_STATE then expectHashes(PENDING) end
if record and record.incarnation == incarnation and ttl then
  countIndexes(true)
  local expiry = expiresAt(ttl)
  local registry = readRegistry(expiry)
  record.values[${luaPlaceOf('expires')}] = text(expiry)
  writeRecord(RECORD, record.values)
  indexSession(nil, nil, expiry, record.expires)
  register(registry, expiry, record.expires)
  expireSession(expiry, record.expires)
  if record.waiting > 0 then noteChange(record, expiry) end
end
if userExpiry then renewState(USER_STATE, expiresAt(userTtl), userBytes) end
if appExpiry then renewState(APP_STATE, expiresAt(appTtl), appBytes) end
return { pendingWrites(), text(serverTime), record and record.incarnation }
`,
);
