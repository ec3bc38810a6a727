import type { UsageOwner } from '../sessions/domain/usage/usage-periods.js';
import { type SessionKey, type StateOwner, type UserKey, assertId } from '../sessions/domain/values/ids.js';
import { refuseUnsent } from './request-names.js';

// Each takes what is left of a request, so that no field is dropped in silence.

export function appStatePath(owner: StateOwner): string {
  return `${appPath(owner)}/state`;
}

export function userStatePath(owner: UserKey): string {
  return `${userPath(owner)}/state`;
}

export function searchPath(owner: UserKey): string {
  return `${userPath(owner)}/search`;
}

export function sessionsPath(owner: UserKey): string {
  return `${userPath(owner)}/sessions`;
}

/** Without `userId`, the sessions of the whole app. */
export function listPath({ userId, ...app }: StateOwner): string {
  return userId === undefined ? `${appPath(app)}/sessions` : sessionsPath({ userId, ...app });
}

export function sessionPath(key: SessionKey): string {
  return `${sessionsPath(key)}/${encoded(key.sessionId, 'sessionId')}`;
}

/** The approvals of a user, or those of one session. */
export function approvalsPath({ sessionId, ...owner }: UserKey & { readonly sessionId?: string | undefined }): string {
  const place = sessionId === undefined ? userPath(owner) : sessionPath({ sessionId, ...owner });
  return `${place}/approvals`;
}

export function approvalPath({ approvalId, ...key }: SessionKey & { readonly approvalId: string }): string {
  return `${approvalsPath(key)}/${encoded(approvalId, 'approvalId')}`;
}

export function turnPath(key: SessionKey): string {
  return `${sessionPath(key)}/turn`;
}

export function summaryPath(key: SessionKey): string {
  return `${sessionPath(key)}/summary`;
}

/** Of a session, of a user or of the whole app. */
export function usagePath({ userId, sessionId, ...app }: UsageOwner): string {
  if (userId === undefined) return `${appPath(app)}/usage`;
  if (sessionId === undefined) return `${userPath({ userId, ...app })}/usage`;
  return `${sessionPath({ userId, sessionId, ...app })}/usage`;
}

function appPath({ appName, ...others }: StateOwner): string {
  refuseUnsent(others);
  return `/apps/${encoded(appName, 'appName')}`;
}

function userPath(owner: UserKey): string {
  return `${appPath(owner)}/users/${encoded(owner.userId, 'userId')}`;
}

/** Refuses invalid ids: an empty one, or `..`, would lead to another path. */
function encoded(id: string, name: string): string {
  assertId(id, name);
  return encodeURIComponent(id);
}
