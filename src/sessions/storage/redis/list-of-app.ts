import { comparePositions, positionOf } from '../list-order.js';
import type { ListRequest } from '../session-storage.js';
import type { ListPage } from './app-scope.js';
import { readUserPage } from './list-of-user.js';
import type { RedisKeys } from './redis-keys.js';
import type { ScriptRunner } from './script-runner.js';
import { LIST_USERS } from './scripts/app-writes.js';

/** Users whose lists are read together. */
const USERS_AT_ONCE = 100;

/**
 * On a cluster: the sessions of an app, out of the lists of all its users. Each list is read as far as the
 * whole page could come from it.
 */
export async function listOfApp(connection: ScriptRunner, keys: RedisKeys, request: ListRequest): Promise<ListPage> {
  const { appName, limit, offset = 0, withTotal } = request;
  const whole = { ...request, limit: offset + limit, offset: 0 };
  let best: ListPage = { result: { sessions: [], total: 0 }, left: [] };
  for (let place = 0; ; place += USERS_AT_ONCE) {
    const users = await connection.read<string[]>(LIST_USERS, {
      keys: [keys.usersOf(appName)],
      args: [place, place + USERS_AT_ONCE - 1],
    });
    const pages = await Promise.all(
      users.map((userId) => readUserPage(connection, keys, NO_APP_KEYS, { ...whole, userId })),
    );
    best = merged(request, offset + limit, [best, ...pages]);
    if (users.length < USERS_AT_ONCE) break;
  }
  const { sessions, total } = best.result;
  return {
    result: { sessions: sessions.slice(offset), ...(withTotal && { total: total ?? 0 }) },
    left: best.left,
  };
}

const NO_APP_KEYS = { listKeys: () => [] };

function merged(request: ListRequest, limit: number, pages: readonly ListPage[]): ListPage {
  const sessions = pages
    .flatMap(({ result }) => result.sessions)
    .toSorted((a, b) => comparePositions(positionOf(a.record, request), positionOf(b.record, request), request))
    .slice(0, limit);
  const total = pages.reduce((sum, { result }) => sum + (result.total ?? 0), 0);
  return { result: { sessions, total }, left: pages.flatMap(({ left }) => left) };
}
