import type { UserKey } from '../../../domain/ids.js';
import type { EraseUserRequest } from '../../transfer-store.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { LIST_CONSUMERS } from '../coordinate/consumer-scripts.js';
import { deleteSession } from '../expire/delete-session.js';
import { purgeUser, unregisterUser } from '../expire/purge-expired.js';
import type { RedisKeys } from '../redis-keys.js';
import { KEY_TYPES } from '../script/base.lua.js';
import { pairsOf } from '../script/codec.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';

/** How many sessions are found at a time. */
const SESSIONS_PER_STEP = 500;
/** About how many entries one script looks at. */
const ENTRIES_PER_STEP = 1_000;

/** Removes the sessions of a user one by one, then the shared state, the usage, and entries of the agenda and of consumers. */
export async function eraseUser(
  scripts: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  { agendaPrefix, ...user }: EraseUserRequest,
): Promise<number> {
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
  await removeEntries(scripts, [keys.agenda], agendaPrefix, ERASE_FROM_AGENDA);
  const consumers = await scripts.read<string[]>(LIST_CONSUMERS, { keys: [keys.consumers], args: [] });
  for (const [name] of pairsOf(consumers)) {
    const { work, due, waiting, dead } = keys.ofConsumer(name);
    const prefix = `${user.appName}\u0000${user.userId}\u0000`;
    await removeEntries(scripts, [work, due, waiting, dead], prefix, ERASE_WORK);
  }
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

async function removeEntries(
  scripts: ScriptRunner,
  keys: readonly string[],
  prefix: string,
  script: typeof ERASE_WORK,
): Promise<void> {
  let cursor = '0';
  do {
    cursor = String(await scripts.write<NumberReply>(script, { keys, args: [prefix, cursor, ENTRIES_PER_STEP] }));
  } while (cursor !== '0');
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

/**
 * Removes entries whose names begin with a prefix from the agenda, one part at a time.
 *
 * KEYS 1 agenda.
 * ARGV 1 time, 2 prefix, 3 where to go on, 4 about how many entries to look at.
 * Returns where to go on, '0' at the end.
 */
export const ERASE_FROM_AGENDA = defineScript(
  'erase-from-agenda',
  String.raw`
local next, entries = unpack(redis.call('ZSCAN', KEYS[1], ARGV[3], 'COUNT', ARGV[4]))
for index = 1, #entries, 2 do
  if string.sub(entries[index], 1, #ARGV[2]) == ARGV[2] then redis.call('ZREM', KEYS[1], entries[index]) end
end
return next
`,
);

/**
 * Removes work of a consumer on sessions whose names begin with a prefix, one part at a time.
 *
 * KEYS 1 work, 2 due, 3 waiting, 4 dead, of the consumer.
 * ARGV 1 time, 2 prefix, 3 where to go on, 4 about how many entries to look at.
 * Returns where to go on, '0' at the end.
 */
export const ERASE_WORK = defineScript(
  'erase-work',
  KEY_TYPES,
  String.raw`
expectSortedSets(KEYS[2], KEYS[3], KEYS[4])
local next, entries = unpack(redis.call('HSCAN', KEYS[1], ARGV[3], 'COUNT', ARGV[4]))
for index = 1, #entries, 2 do
  local member = entries[index]
  if string.sub(member, 1, #ARGV[2]) == ARGV[2] then
    redis.call('HDEL', KEYS[1], member)
    for place = 2, 4 do redis.call('ZREM', KEYS[place], member) end
  end
end
return next
`,
);
