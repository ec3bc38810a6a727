import type { UserKey } from '../../../domain/values/ids.js';
import type { PurgeCounts } from '../../session-storage.js';
import type { AppScope } from '../app-scope/app-scope.js';
import type { RedisKeys } from '../redis-keys.js';
import { ENCODE_ID, KEY_TYPES, TIME } from '../script/base.lua.js';
import { flag } from '../script/codec.js';
import { ENTRY_INDEX } from '../script/metadata.lua.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { EXPIRY_IN_HEAD } from '../script/shared-state.lua.js';

/** How many users of an app are claimed at a time. */
const USERS_PER_CLAIM = 100;

type Counts = { -readonly [Kind in keyof PurgeCounts]: number };

/**
 * Removes what has expired: data that Redis has not removed yet, and index entries of data that it has. It goes through
 * the apps, and in each app through the users who may have expired data.
 */
export class ExpiryPurge {
  readonly #counts: Counts = { sessions: 0, userStates: 0, appStates: 0 };

  constructor(
    private readonly scripts: ScriptRunner,
    private readonly keys: RedisKeys,
    private readonly app: Pick<AppScope, 'indexKeys' | 'isCluster'>,
    private readonly limit: number,
  ) {}

  async run(): Promise<PurgeCounts> {
    for (const appName of await this.scripts.read<string[]>(LIST_APPS, { keys: [this.keys.apps], args: [] })) {
      if (this.#isFull || this.#counts.appStates >= this.limit) break;
      await this.#purgeApp(appName);
    }
    return this.#counts;
  }

  get #isFull(): boolean {
    return Math.max(this.#counts.sessions, this.#counts.userStates) >= this.limit;
  }

  async #purgeApp(appName: string): Promise<void> {
    let claimed: number;
    do {
      claimed = await this.#purgeUsers(appName);
    } while (claimed === USERS_PER_CLAIM && !this.#isFull);
  }

  async #purgeUsers(appName: string): Promise<number> {
    const [appStates, claim, users] = await this.scripts.write<[NumberReply, string, string[]]>(CLAIM_USERS, {
      keys: [this.keys.stateOf({ appName }), this.keys.usersOf(appName)],
      args: [flag(this.#counts.appStates < this.limit), USERS_PER_CLAIM, ''],
    });
    this.#counts.appStates += Number(appStates);
    const next: string[] = [];
    for (let index = 0; index < users.length; index += 2) {
      const [userId = '', due = ''] = users.slice(index, index + 2);
      next.push(userId, this.#isFull ? due : await this.#purgeUser(appName, userId));
    }
    if (users.length > 0) await releaseUsers(this.scripts, this.keys, appName, claim, next);
    return users.length / 2;
  }

  async #purgeUser(appName: string, userId: string): Promise<string> {
    const [sessions, userStates, due] = await purgeUser(this.scripts, this.keys, {
      owner: { appName, userId },
      appIndexKeys: this.app.indexKeys(appName),
      isCluster: this.app.isCluster,
      maxSessions: this.limit - this.#counts.sessions,
    });
    this.#counts.sessions += Number(sessions);
    this.#counts.userStates += Number(userStates);
    return due;
  }
}

interface UserPurge {
  readonly owner: UserKey;
  readonly appIndexKeys: readonly string[];
  readonly isCluster: boolean;
  readonly maxSessions: number;
}

/** Removes the expired data of a user. `due` is when more may expire, or '' if the user has nothing left. */
export function purgeUser(
  scripts: ScriptRunner,
  keys: RedisKeys,
  { owner, appIndexKeys, isCluster, maxSessions }: UserPurge,
): Promise<[sessions: NumberReply, userStates: NumberReply, due: string]> {
  const { appName, userId } = owner;
  return scripts.write(PURGE_USER, {
    keys: [
      keys.baseOfUser(appName, userId),
      ...keys.indexesOf(owner),
      keys.entriesOf(owner),
      keys.stateOf(owner),
      keys.changedOf(owner, isCluster),
      ...appIndexKeys,
    ],
    args: [userId, maxSessions, flag(maxSessions > 0), appName],
  });
}

/** Removes a user without data from the registry. A registration in the meantime prevents that. */
export async function unregisterUser(scripts: ScriptRunner, keys: RedisKeys, owner: UserKey): Promise<void> {
  const { appName, userId } = owner;
  const [, claim, users] = await scripts.write<[NumberReply, string, string[]]>(CLAIM_USERS, {
    keys: [keys.stateOf({ appName }), keys.usersOf(appName)],
    args: [flag(false), 1, userId],
  });
  if (users.length === 0) return;
  const [, , due] = await purgeUser(scripts, keys, { owner, appIndexKeys: [], isCluster: true, maxSessions: 0 });
  await releaseUsers(scripts, keys, appName, claim, [userId, due]);
}

async function releaseUsers(
  scripts: ScriptRunner,
  keys: RedisKeys,
  appName: string,
  claim: string,
  next: readonly string[],
): Promise<void> {
  await scripts.write(RELEASE_USERS, { keys: [keys.usersOf(appName)], args: [claim, ...next] });
}

/**
 * Removes app state that has expired, and claims users who may have expired data.
 *
 * KEYS 1 app state, 2 users of the app.
 * ARGV 1 time, 2 whether to remove the state (1 or 0), 3 how many users to claim at most, 4 the one user to claim, or ''
 *      for all who are due.
 * Returns { states removed, the claim, alternating user id and time due }.
 */
export const CLAIM_USERS = defineScript(
  'claim-users',
  TIME,
  EXPIRY_IN_HEAD,
  String.raw`
local removed = 0
local expiry = expiryIn(redis.call('HGET', KEYS[1], ''))

-- A claim ends after a minute, in case the process that made it has crashed.
local claim = string.format('%.1f', now + 60000.5)
local users
if ARGV[4] ~= '' then
  local due = redis.call('ZSCORE', KEYS[2], ARGV[4])
  users = due and { ARGV[4], due } or {}
else
  users = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', text(now), 'WITHSCORES', 'LIMIT', 0, ARGV[3])
end
if ARGV[2] == '1' and expiry and expiry <= now then removed = redis.call('UNLINK', KEYS[1]) end
for index = 1, #users, 2 do redis.call('ZADD', KEYS[2], claim, users[index]) end
return { removed, claim, users }
`,
);

/**
 * Removes the expired data of a user.
 *
 * KEYS 1 prefix of the user's keys; 2 by update, 3 by creation, 4 expiring, 5 by entry: the sessions of the user; 6 their
 *      entries; 7 user state; 8 changed sessions; on a single node also 9 by update, 10 by creation, 11 expiring, 12 by
 *      entry: the sessions of the app.
 *      The script finds the keys of sessions through key 4, so the caller cannot name them.
 * ARGV 1 time, 2 user id, 3 how many sessions to remove at most, 4 whether to remove the state (1 or 0),
 *      5 app name.
 * Returns { sessions removed, states removed, when more may expire, or '' if the user has nothing left }.
 */
export const PURGE_USER = defineScript(
  'purge-user',
  TIME,
  ENCODE_ID,
  KEY_TYPES,
  ENTRY_INDEX,
  EXPIRY_IN_HEAD,
  String.raw`
local KINDS = { 'session:', 'anchors:', 'state:', 'pending:', 'partials:' }
local expired = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', text(now), 'LIMIT', 0, ARGV[3])
local stateExpiry = expiryIn(redis.call('HGET', KEYS[7], ''))
expectSortedSets(KEYS[2], KEYS[3], KEYS[5], unpack(KEYS, 8))
redis.call('HLEN', KEYS[6])
local byEntry = { { key = KEYS[5], prefix = '' }, KEYS[12] and { key = KEYS[12], prefix = ARGV[2] .. '\0' } }

for _, sessionId in ipairs(expired) do
  for _, kind in ipairs(KINDS) do redis.call('UNLINK', KEYS[1] .. kind .. encode(sessionId)) end
  for index = 2, 4 do redis.call('ZREM', KEYS[index], sessionId) end
  redis.call('ZREM', KEYS[8], ARGV[5] .. '\0' .. ARGV[2] .. '\0' .. sessionId)
  for index = 9, math.min(11, #KEYS) do redis.call('ZREM', KEYS[index], ARGV[2] .. '\0' .. sessionId) end
  replaceEntries(KEYS[6], byEntry, sessionId)
end

local statesRemoved = 0
if ARGV[4] == '1' and stateExpiry and stateExpiry <= now then
  statesRemoved = redis.call('UNLINK', KEYS[7])
  stateExpiry = nil
end

local first = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')[2]
local due = math.min(tonumber(first) or NEVER, stateExpiry or NEVER)
local isRegistered = due < NEVER or redis.call('EXISTS', KEYS[2]) == 1
return { #expired, statesRemoved, isRegistered and text(due) or '' }
`,
);

/**
 * Releases claimed users who were not registered since.
 *
 * KEYS 1 users of the app.
 * ARGV 1 time, 2 the claim, then alternating user id and when more may expire ('' = remove the user).
 * Returns nothing.
 */
export const RELEASE_USERS = defineScript(
  'release-users',
  String.raw`
local claim = tonumber(ARGV[2])
for index = 3, #ARGV, 2 do
  local userId, due = ARGV[index], ARGV[index + 1]
  if tonumber(redis.call('ZSCORE', KEYS[1], userId)) == claim then
    if due == '' then redis.call('ZREM', KEYS[1], userId) else redis.call('ZADD', KEYS[1], due, userId) end
  end
end
`,
);

/**
 * Reads the names of all apps.
 *
 * KEYS 1 apps.
 * ARGV 1 time.
 * Returns names.
 */
export const LIST_APPS = defineScript('list-apps', `return redis.call('ZRANGE', KEYS[1], 0, -1)`);
