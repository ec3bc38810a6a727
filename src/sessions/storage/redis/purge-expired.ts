import type { UserKey } from '../../domain/ids.js';
import type { PurgeCounts } from '../session-storage.js';
import type { AppScope } from './app-scope.js';
import type { RedisKeys } from './redis-keys.js';
import { flag } from './script-arguments.js';
import type { NumberReply, ScriptRunner } from './script-runner.js';
import { CLAIM_USERS, LIST_APPS, PURGE_USER, RELEASE_USERS } from './scripts/purge-scripts.js';

/** Users looked after between two looks at their app. */
const USERS_AT_ONCE = 100;

type Counts = { -readonly [Kind in keyof PurgeCounts]: number };

/**
 * Clears away what expired: what the server has not removed by itself, and what is left in the indexes of
 * what it has. It goes by the users who may have something that expired, app by app.
 */
export class ExpiryPurge {
  readonly #counts: Counts = { sessions: 0, userStates: 0, appStates: 0 };

  constructor(
    private readonly connection: ScriptRunner,
    private readonly keys: RedisKeys,
    private readonly app: Pick<AppScope, 'indexKeys'>,
    private readonly limit: number,
  ) {}

  async run(): Promise<PurgeCounts> {
    for (const appName of await this.connection.read<string[]>(LIST_APPS, { keys: [this.keys.apps], args: [] })) {
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
      claimed = await this.#purgeSomeUsers(appName);
    } while (claimed === USERS_AT_ONCE && !this.#isFull);
  }

  async #purgeSomeUsers(appName: string): Promise<number> {
    const [appStates, claim, users] = await this.connection.write<[NumberReply, string, string[]]>(CLAIM_USERS, {
      keys: [this.keys.stateOf({ appName }), this.keys.usersOf(appName)],
      args: [flag(this.#counts.appStates < this.limit), USERS_AT_ONCE, ''],
    });
    this.#counts.appStates += Number(appStates);
    const next: string[] = [];
    for (let index = 0; index < users.length; index += 2) {
      const [userId = '', due = ''] = users.slice(index, index + 2);
      next.push(userId, this.#isFull ? due : await this.#purgeUser(appName, userId));
    }
    if (users.length > 0) await releaseUsers(this.connection, this.keys, appName, claim, next);
    return users.length / 2;
  }

  async #purgeUser(appName: string, userId: string): Promise<string> {
    const [sessions, userStates, due] = await purgeUser(this.connection, this.keys, {
      owner: { appName, userId },
      appIndexKeys: this.app.indexKeys(appName),
      maxSessions: this.limit - this.#counts.sessions,
    });
    this.#counts.sessions += Number(sessions);
    this.#counts.userStates += Number(userStates);
    return due;
  }
}

/** Removes what expired of a user, and says when something may expire next; '' if the user is to be forgotten. */
function purgeUser(
  connection: ScriptRunner,
  keys: RedisKeys,
  { owner, appIndexKeys, maxSessions }: { owner: UserKey; appIndexKeys: readonly string[]; maxSessions: number },
): Promise<[sessions: NumberReply, userStates: NumberReply, due: string]> {
  const { appName, userId } = owner;
  return connection.write(PURGE_USER, {
    keys: [keys.baseOfUser(appName, userId), ...keys.indexesOf(owner), keys.stateOf(owner), ...appIndexKeys],
    args: [userId, maxSessions, flag(maxSessions > 0)],
  });
}

/** Forgets a user, unless something is there or comes meanwhile. */
export async function forgetUser(connection: ScriptRunner, keys: RedisKeys, owner: UserKey): Promise<void> {
  const { appName, userId } = owner;
  const [, claim, users] = await connection.write<[NumberReply, string, string[]]>(CLAIM_USERS, {
    keys: [keys.stateOf({ appName }), keys.usersOf(appName)],
    args: [flag(false), 1, userId],
  });
  if (users.length === 0) return;
  const [, , due] = await purgeUser(connection, keys, { owner, appIndexKeys: [], maxSessions: 0 });
  await releaseUsers(connection, keys, appName, claim, [userId, due]);
}

async function releaseUsers(
  connection: ScriptRunner,
  keys: RedisKeys,
  appName: string,
  claim: string,
  next: readonly string[],
): Promise<void> {
  await connection.write(RELEASE_USERS, { keys: [keys.usersOf(appName)], args: [claim, ...next] });
}
