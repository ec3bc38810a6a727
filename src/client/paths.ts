import type { UsageOwner } from '../sessions/domain/usage-periods.js';
import { type SessionKey, type StateOwner, type UserKey, assertId } from '../sessions/domain/ids.js';
import { refuseUnsent } from './request-names.js';

// Each takes what is left of a request, so that no field is dropped in silence.

export function appStateOf(owner: StateOwner): string {
  return `${appOf(owner)}/state`;
}

export function userStateOf(owner: UserKey): string {
  return `${userOf(owner)}/state`;
}

export function searchOf(owner: UserKey): string {
  return `${userOf(owner)}/search`;
}

export function sessionsOf(owner: UserKey): string {
  return `${userOf(owner)}/sessions`;
}

/** Without `userId`, the sessions of the whole app. */
export function sessionListOf({ userId, ...app }: StateOwner): string {
  return userId === undefined ? `${appOf(app)}/sessions` : sessionsOf({ userId, ...app });
}

export function sessionOf(key: SessionKey): string {
  return `${sessionsOf(key)}/${encoded(key.sessionId, 'sessionId')}`;
}

/** The approvals of a user, or those of one session. */
export function approvalsOf({ sessionId, ...owner }: UserKey & { readonly sessionId?: string | undefined }): string {
  const place = sessionId === undefined ? userOf(owner) : sessionOf({ sessionId, ...owner });
  return `${place}/approvals`;
}

export function approvalOf({ approvalId, ...key }: SessionKey & { readonly approvalId: string }): string {
  return `${approvalsOf(key)}/${encoded(approvalId, 'approvalId')}`;
}

export function turnOf(key: SessionKey): string {
  return `${sessionOf(key)}/turn`;
}

export function summaryOf(key: SessionKey): string {
  return `${sessionOf(key)}/summary`;
}

/** Of a session, of a user or of the whole app. */
export function usageOf({ userId, sessionId, ...app }: UsageOwner): string {
  if (userId === undefined) return `${appOf(app)}/usage`;
  if (sessionId === undefined) return `${userOf({ userId, ...app })}/usage`;
  return `${sessionOf({ userId, sessionId, ...app })}/usage`;
}

function appOf({ appName, ...others }: StateOwner): string {
  refuseUnsent(others);
  return `/apps/${encoded(appName, 'appName')}`;
}

function userOf(owner: UserKey): string {
  return `${appOf(owner)}/users/${encoded(owner.userId, 'userId')}`;
}

/** Refuses invalid ids: an empty one, or `..`, would lead to another path. */
function encoded(id: string, name: string): string {
  assertId(id, name);
  return encodeURIComponent(id);
}
