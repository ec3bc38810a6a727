import { comparePositions, positionOf } from '../../list-order.js';
import type { ListRequest, ListResult } from '../../session-storage.js';
import type { AppScope, ListPage } from '../app-scope/app-scope.js';
import type { RedisKeys } from '../redis-keys.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { readPage } from './list-page.js';

/** On a cluster: how many users' lists are read at the same time. */
const USERS_PER_BATCH = 100;

/** Lists the sessions of a user or of an app. */
export async function listSessions(
  scripts: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  request: ListRequest,
): Promise<ListResult> {
  return app.completeList(request.appName, await readList(scripts, keys, app, request));
}

function readList(scripts: ScriptRunner, keys: RedisKeys, app: AppScope, request: ListRequest): Promise<ListPage> {
  const { appName, userId } = request;
  if (userId === undefined && app.isCluster) return mergeUserLists(scripts, keys, request);
  return readPage(scripts, request, [
    ...keys.indexesOf({ appName, userId }),
    userId === undefined ? keys.baseOfUsers(appName) : keys.baseOfUser(appName, userId),
    ...(app.isCluster ? [] : [keys.stateOf({ appName })]),
  ]);
}

/**
 * On a cluster: merges the lists of all users of an app. Any user's list may fill the whole page, so each is read up
 * to the end of the page.
 */
async function mergeUserLists(scripts: ScriptRunner, keys: RedisKeys, request: ListRequest): Promise<ListPage> {
  const { appName, limit, offset = 0, withTotal } = request;
  const whole = { ...request, limit: offset + limit, offset: 0 };
  let merged: ListPage = { result: { sessions: [], total: 0 }, pending: [] };
  for (let first = 0; ; first += USERS_PER_BATCH) {
    const users = await scripts.read<string[]>(LIST_USERS, {
      keys: [keys.usersOf(appName)],
      args: [first, first + USERS_PER_BATCH - 1],
    });
    const pages = await Promise.all(
      users.map((userId) =>
        readPage(scripts, { ...whole, userId }, [
          ...keys.indexesOf({ appName, userId }),
          keys.baseOfUser(appName, userId),
        ]),
      ),
    );
    merged = mergePages(request, offset + limit, [merged, ...pages]);
    if (users.length < USERS_PER_BATCH) break;
  }
  const { sessions, total, examinedTo } = merged.result;
  const isShort = sessions.length < offset + limit;
  return {
    result: {
      sessions: sessions.slice(offset),
      ...(withTotal && { total: total ?? 0 }),
      ...(examinedTo && isShort && { examinedTo }),
    },
    pending: merged.pending,
  };
}

/** What follows the first position to which a list was examined is left to the next page. */
function mergePages(request: ListRequest, limit: number, pages: readonly ListPage[]): ListPage {
  const [examinedTo] = pages
    .flatMap(({ result }) => result.examinedTo ?? [])
    .toSorted((a, b) => comparePositions(a, b, request));
  const sessions = pages
    .flatMap(({ result }) => result.sessions)
    .filter(({ record }) => !examinedTo || comparePositions(positionOf(record, request), examinedTo, request) <= 0)
    .toSorted((a, b) => comparePositions(positionOf(a.record, request), positionOf(b.record, request), request))
    .slice(0, limit);
  const total = pages.reduce((sum, { result }) => sum + (result.total ?? 0), 0);
  return {
    result: { sessions, total, ...(examinedTo && { examinedTo }) },
    pending: pages.flatMap(({ pending }) => pending),
  };
}

/**
 * Reads user ids of an app by rank.
 *
 * KEYS 1 users.
 * ARGV 1 time, 2 first rank, 3 last rank.
 * Returns user ids.
 */
export const LIST_USERS = defineScript('list-users', `return redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3])`);
