import { inBatches } from '../../../domain/stored/batches.js';
import { comparePositions, positionOf } from '../../list-order.js';
import type { ListPosition, ListRequest, ListResult } from '../../session-storage.js';
import type { AppScope, ListPage } from '../app-scope/app-scope.js';
import type { RedisKeys } from '../redis-keys.js';
import { type ScriptRunner, defineScript } from '../script/script.js';
import { readPage } from './list-page.js';

/** Lists the sessions of a user or of an app. */
export async function listSessions(
  scripts: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  request: ListRequest,
): Promise<ListResult> {
  return app.completeList(request.appName, await readList(scripts, keys, app, request), limitsOfState(request));
}

/** The state of the app is read on a cluster in any case, and refused only if it is wanted. */
function limitsOfState({ withState, maxStateBytes }: ListRequest): ListRequest['maxStateBytes'] {
  return withState === false ? undefined : maxStateBytes;
}

function readList(scripts: ScriptRunner, keys: RedisKeys, app: AppScope, request: ListRequest): Promise<ListPage> {
  const { appName, userId } = request;
  if (userId === undefined && app.isCluster) return listOfApp(scripts, keys, request);
  return readPage(scripts, request, [
    ...keys.indexesOf({ appName, userId }),
    userId === undefined ? keys.baseOfUsers(appName) : keys.baseOfUser(appName, userId),
    ...(app.isCluster ? [] : [keys.stateOf({ appName })]),
  ]);
}

/** How many lists of users are read at the same time. */
const USERS_PER_BATCH = 100;
/** Sessions per page of an app. Each of so many users is asked for so many sessions. */
const MOST_OF_APP = 65;
/** What each of many users may return at least. */
const FEWEST_BYTES = 65_536;

/** The page of one user. */
interface UserPage extends ListPage {
  readonly userId: string;
}

/**
 * On a cluster: reads a page of the sessions of an app by merging the lists of its users. It reads the first session of
 * each user, sorts these, and then reads more sessions only of the first users: at most as many users as the page has
 * sessions. So the cost grows with the number of users, not with the number of sessions.
 */
async function listOfApp(scripts: ScriptRunner, keys: RedisKeys, request: ListRequest): Promise<ListPage> {
  const { offset = 0, withTotal } = request;
  const limit = Math.min(request.limit, MOST_OF_APP);
  const size = offset + limit;
  const read = (userId: string, part: Partial<ListRequest>): Promise<UserPage> =>
    readUser(scripts, keys, { ...request, offset: 0, ...part, userId });

  let firsts: UserPage[] = [];
  const examined: ListPage[] = [];
  let total = 0;
  for await (const users of readUserBatches(scripts, keys, request.appName)) {
    const heads = await Promise.all(
      users.map((userId) => read(userId, { limit: Math.min(size, 1), withState: false })),
    );
    total += heads.reduce((sum, { result }) => sum + (result.total ?? 0), 0);
    examined.push(...heads.filter(({ result }) => result.examinedTo));
    firsts = firstOf(request, size, [...firsts, ...heads]);
  }
  // Before the session at a rank, there are as many others.
  const maxBytes = request.maxBytes && Math.max(FEWEST_BYTES, Math.ceil(request.maxBytes / firsts.length));
  const wanted = firsts.map(({ userId }, rank) => ({ userId, limit: size - rank, withTotal: false, maxBytes }));
  const pages: ListPage[] = [];
  for (const batch of inBatches(wanted, { items: USERS_PER_BATCH })) {
    pages.push(...(await Promise.all(batch.map(({ userId, ...part }) => read(userId, part)))));
  }
  const { result, pending } = mergePages(request, size, [...examined, ...pages]);
  const { sessions, damaged, examinedTo, isCut } = result;
  const isFull = sessions.length >= size;
  return {
    result: {
      sessions: sessions.slice(offset),
      ...(damaged && { damaged }),
      ...(withTotal && { total }),
      ...(examinedTo && !isFull && { examinedTo }),
      ...((isFull ? limit < request.limit : isCut) && { isCut: true }),
    },
    pending,
  };
}

async function* readUserBatches(scripts: ScriptRunner, keys: RedisKeys, appName: string): AsyncGenerator<string[]> {
  for (let first = 0; ; first += USERS_PER_BATCH) {
    const users = await scripts.read<string[]>(LIST_USERS, {
      keys: [keys.usersOf(appName)],
      args: [first, first + USERS_PER_BATCH - 1],
    });
    yield users;
    if (users.length < USERS_PER_BATCH) return;
  }
}

async function readUser(
  scripts: ScriptRunner,
  keys: RedisKeys,
  request: ListRequest & { readonly userId: string },
): Promise<UserPage> {
  const { appName, userId } = request;
  const page = await readPage(scripts, request, [
    ...keys.indexesOf({ appName, userId }),
    keys.baseOfUser(appName, userId),
  ]);
  return { ...page, userId };
}

/** The pages whose first sessions come first in the list. Leaves out empty pages. */
function firstOf(request: ListRequest, size: number, heads: readonly UserPage[]): UserPage[] {
  return heads
    .flatMap((page) =>
      page.result.sessions.slice(0, 1).map(({ record }) => ({ page, at: positionOf(record, request) })),
    )
    .toSorted((a, b) => comparePositions(a.at, b.at, request))
    .slice(0, size)
    .map(({ page }) => page);
}

/** Merges pages up to the first position at which a list, or the examination of one, ended early. The next page has the rest. */
function mergePages(request: ListRequest, size: number, pages: readonly ListPage[]): ListPage {
  const [end] = pages
    .flatMap(({ result }) => findPageEnd(request, result) ?? [])
    .toSorted((a, b) => comparePositions(a.at, b.at, request));
  const sessions: ListResult['sessions'] = pages
    .flatMap(({ result }) => result.sessions)
    .filter(({ record }) => !end || comparePositions(positionOf(record, request), end.at, request) <= 0)
    .toSorted((a, b) => comparePositions(positionOf(a.record, request), positionOf(b.record, request), request))
    .slice(0, size);
  const damaged = pages.flatMap(({ result }) => result.damaged ?? []);
  return {
    result: {
      sessions,
      ...(damaged.length > 0 && { damaged }),
      ...(end && (end.isCut ? { isCut: true } : { examinedTo: end.at })),
    },
    pending: pages.flatMap(({ pending }) => pending),
  };
}

function findPageEnd(request: ListRequest, { sessions, isCut, examinedTo }: ListResult): PageEnd | undefined {
  const last = isCut && sessions.at(-1);
  if (last) return { at: positionOf(last.record, request), isCut: true };
  return examinedTo && { at: examinedTo, isCut: false };
}

/** Up to where the sessions of a user are known. */
interface PageEnd {
  readonly at: ListPosition;
  readonly isCut: boolean;
}

/**
 * Reads user ids of an app by rank.
 *
 * KEYS 1 users.
 * ARGV 1 time, 2 first rank, 3 last rank.
 * Returns user ids.
 */
export const LIST_USERS = defineScript('list-users', `return redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3])`);
