import { retryUndefined } from '../../../domain/process/retry-overtaken.js';
import type { DeletedSession } from '../../session-store.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import type { RedisKeys } from '../redis-keys.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import { type FlatHash, flag, keyArguments, optional, recordPattern } from '../script/codec.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { SESSION } from '../script/session.lua.js';
import { SHARED_STATE } from '../script/shared-state.lua.js';
import { unregisterUser } from './purge-expired.js';

/**
 * Deletes a session. Pending writes are applied first, so that they are not lost with it. If others write each time, it is deleted even if
 * writes are pending.
 */
export async function deleteSession(
  scripts: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  { incarnation: wanted = '', stamp, ...key }: DeletedSession,
): Promise<boolean> {
  const attempt = async (isForced: boolean): Promise<Deletion | undefined> => {
    const [deleted, wasLast, pending, readAt, incarnation] = await scripts.write<
      [deleted: NumberReply, wasLast: NumberReply, pending: FlatHash, readAt: string, incarnation: string]
    >(DELETE_SESSION, {
      keys: app.sessionKeys(key),
      args: [...keyArguments(key), flag(isForced), wanted, optional(stamp)],
    });
    await afterWrite(async () => {
      await app.applyPending({ key, incarnation, pending, readAt });
      if (app.isCluster && Number(wasLast)) await unregisterUser(scripts, keys, key);
    });
    return DELETIONS[Number(deleted)];
  };
  return ((await retryUndefined(() => attempt(false))) ?? (await attempt(true))) === 'deleted';
}

type Deletion = 'deleted' | 'other';

/** What the script returns. Nothing for pending writes. */
const DELETIONS: readonly (Deletion | undefined)[] = [undefined, 'deleted', 'other'];

/**
 * Deletes a session with all its keys. On a cluster it refuses while writes are pending, unless forced.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: force (1 or 0); the incarnation to delete, and its stamp ('' = any).
 * Returns { gone (1), pending writes (0) or another stamp (2), whether it was the user's last session (1 or 0), pending, server time, incarnation }.
 */
export const DELETE_SESSION = defineScript(
  'delete-session',
  TIME,
  ARGUMENTS,
  SHARED_STATE,
  SESSION,
  String.raw`
local isForced, wanted, expected = take() == '1', take(), take()
local incarnation, stamp = string.match(readRecord(RECORD) or '', ${recordPattern('incarnation', 'stamp')})
if not incarnation or (wanted ~= '' and wanted ~= incarnation) then return { 1, 0, {}, text(serverTime), '' } end
if expected ~= '' and expected ~= stamp then return { 2, 0, {}, text(serverTime), '' } end
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
