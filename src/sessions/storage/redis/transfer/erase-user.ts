import type { UserKey } from '../../../domain/values/ids.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { deleteSession } from '../expire/delete-session.js';
import { purgeUser, unregisterUser } from '../expire/purge-expired.js';
import type { RedisKeys } from '../redis-keys.js';
import { type ScriptRunner, defineScript } from '../script/script.js';

/** How many sessions are found at a time. */
const SESSIONS_PER_STEP = 500;

/** Removes the sessions of a user one by one, then the shared state and the usage. */
export async function eraseUser(scripts: ScriptRunner, keys: RedisKeys, app: AppScope, user: UserKey): Promise<number> {
  let erased = 0;
  for (;;) {
    erased += await purge(scripts, keys, app, user);
    const found = await scripts.read<string[]>(USER_SESSIONS, {
      keys: keys.indexesOf(user).slice(0, 2),
      args: [SESSIONS_PER_STEP],
    });
    if (found.length === 0) break;
    for (const sessionId of found) await deleteSession(scripts, keys, app, { ...user, sessionId });
    erased += found.length;
  }
  await scripts.write(ERASE_SHARED, { keys: [keys.stateOf(user), keys.usageOf(user)], args: [] });
  await unregisterUser(scripts, keys, user);
  return erased;
}

/** Sessions that have expired are only in the indexes. */
async function purge(scripts: ScriptRunner, keys: RedisKeys, app: AppScope, owner: UserKey): Promise<number> {
  const { appName } = owner;
  const purged = { owner, appIndexKeys: app.indexKeys(appName), isCluster: app.isCluster };
  for (let removed = 0; ;) {
    const [some] = await purgeUser(scripts, keys, { ...purged, maxSessions: SESSIONS_PER_STEP });
    removed += Number(some);
    if (Number(some) < SESSIONS_PER_STEP) return removed;
  }
}

/**
 * Some sessions of a user.
 *
 * KEYS 1 by update, 2 by creation: the sessions of the user.
 * ARGV 1 time, 2 how many at most.
 * Returns their ids.
 */
export const USER_SESSIONS = defineScript(
  'user-sessions',
  String.raw`
local last = tonumber(ARGV[2]) - 1
local found = redis.call('ZRANGE', KEYS[1], 0, last)
return #found > 0 and found or redis.call('ZRANGE', KEYS[2], 0, last)
`,
);

/**
 * Removes the state and the usage of a user.
 *
 * KEYS 1 user state, 2 usage.
 * ARGV 1 time.
 * Returns nothing.
 */
export const ERASE_SHARED = defineScript('erase-shared', `redis.call('UNLINK', KEYS[1], KEYS[2])`);
