import type { SessionKey, StateOwner, UserKey } from '../sessions/domain/values/ids.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { listedRecords } from '../sessions/storage/listed-records.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { type Pace, pause } from './log-pages.js';

/** The sessions of an app or a user, oldest first, at the pace of a check. */
export function walkSessions(
  storage: SessionStorage,
  owner: StateOwner,
  pace: Pace,
  onDamaged?: (key: SessionKey) => void,
): AsyncGenerator<SessionRecord> {
  const { pageSize } = pace;
  return listedRecords(storage, owner, { order: 'asc', pageSize, onDamaged, pause: () => pause(pace) });
}

/** The users of an app who have sessions, each once, whatever their number. */
export async function* listUsersWithSessions(
  storage: SessionStorage,
  appName: string,
  pace: Pace,
  onDamaged: (key: SessionKey) => void,
): AsyncGenerator<UserKey> {
  let last: string | undefined;
  for await (const { userId, sessionId } of walkSessions(storage, { appName }, pace, onDamaged)) {
    if (userId === last) continue;
    if (!(await isFirst(storage, { appName, userId, sessionId }))) continue;
    last = userId;
    yield { appName, userId };
  }
}

/** A user is met at the oldest session, so that nobody has to remember all users. */
async function isFirst(storage: SessionStorage, { appName, userId, sessionId }: SessionKey): Promise<boolean> {
  const oldest = { orderBy: 'createTime', order: 'asc', limit: 1, withState: false } as const;
  const { sessions } = await storage.list({ appName, userId, ...oldest });
  return sessions[0]?.record.sessionId === sessionId;
}
