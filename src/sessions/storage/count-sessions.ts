import type { StateOwner } from '../domain/values/ids.js';
import type { SessionStorage } from './session-storage.js';

/** How many sessions a user or an app has. One request. */
export async function countSessions(storage: Pick<SessionStorage, 'list'>, owner: StateOwner): Promise<number> {
  const order = { orderBy: 'createTime', order: 'desc' } as const;
  const page = { limit: 1, offset: 0, withTotal: true, withState: false };
  return (await storage.list({ ...owner, ...order, ...page })).total ?? 0;
}
