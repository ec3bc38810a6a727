import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { type SessionKey, type StateOwner, assertId } from '../sessions/domain/values/ids.js';
import { assertFieldNames, requireRequest } from '../sessions/domain/values/request-fields.js';
import type { TransferFilter } from './transfer-records.js';

/** Refuses unknown fields and invalid ids, and a user without an app. */
export function checkedFilter(filter: TransferFilter = {}): TransferFilter {
  assertFieldNames(requireRequest(filter, 'filter'), { appName: true, userId: true, sessionId: true });
  const { appName, userId, sessionId } = filter;
  if (userId !== undefined && appName === undefined) throw new InvalidInputError('needs an appName', 'userId');
  if (sessionId !== undefined && userId === undefined) throw new InvalidInputError('needs a userId', 'sessionId');
  for (const [name, id] of Object.entries({ appName, userId, sessionId })) if (id !== undefined) assertId(id, name);
  return { appName, userId, sessionId };
}

export function isSessionWanted(line: SessionKey, filter: TransferFilter): boolean {
  return (
    isSame(filter.sessionId, line.sessionId) &&
    isSame(filter.userId, line.userId) &&
    isSame(filter.appName, line.appName)
  );
}

/** The state and usage of users and apps. Those of an app are no part of a user, nor of a session. */
export function isOwnerWanted({ appName, userId }: StateOwner, filter: TransferFilter): boolean {
  if (filter.sessionId !== undefined || !isSame(filter.appName, appName)) return false;
  return filter.userId === undefined || filter.userId === userId;
}

function isSame(wanted: string | undefined, id: string): boolean {
  return wanted === undefined || wanted === id;
}
