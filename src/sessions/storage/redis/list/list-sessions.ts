import type { ListRequest, ListResult } from '../../session-storage.js';
import type { AppScope, ListPage } from '../app-scope/app-scope.js';
import type { RedisKeys } from '../redis-keys.js';
import type { ScriptRunner } from '../script/script.js';
import { listOfApp } from './list-of-app.js';
import { readPage } from './list-page.js';

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
  if (userId === undefined && app.isCluster) return listOfApp(scripts, keys, request);
  return readPage(scripts, request, [
    ...keys.indexesOf({ appName, userId }),
    userId === undefined ? keys.baseOfUsers(appName) : keys.baseOfUser(appName, userId),
    ...(app.isCluster ? [] : [keys.stateOf({ appName })]),
  ]);
}
