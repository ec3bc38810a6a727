import type { ListRequest, ListResult } from '../session-storage.js';
import type { AppScope, ListPage } from './app-scope.js';
import { readListPage } from './list-page.js';
import type { RedisKeys } from './redis-keys.js';
import type { ScriptRunner } from './script-runner.js';

export interface UserListRequest extends ListRequest {
  readonly userId: string;
}

/** A page of the sessions of a user, without the state of their app where that lies in another slot. */
export function readUserPage(
  connection: ScriptRunner,
  keys: RedisKeys,
  app: Pick<AppScope, 'listKeys'>,
  request: UserListRequest,
): Promise<ListPage> {
  const { appName, userId } = request;
  return readListPage(connection, request, [
    ...keys.indexesOf({ appName, userId }),
    keys.baseOfUser(appName, userId),
    ...app.listKeys(appName),
  ]);
}

export async function listOfUser(
  connection: ScriptRunner,
  keys: RedisKeys,
  app: AppScope,
  request: UserListRequest,
): Promise<ListResult> {
  return app.complete(request.appName, await readUserPage(connection, keys, app, request));
}
