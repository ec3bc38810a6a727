import type { UsageOwner } from '../sessions/domain/usage-periods.js';
import { type SessionKey, type StateOwner, type UserKey, assertId } from '../sessions/domain/ids.js';

export function appStateOf({ appName }: StateOwner): string {
  return `${appOf({ appName })}/state`;
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
export function sessionListOf({ appName, userId }: StateOwner): string {
  return userId === undefined ? `${appOf({ appName })}/sessions` : sessionsOf({ appName, userId });
}

export function sessionOf({ sessionId, ...owner }: SessionKey): string {
  return `${sessionsOf(owner)}/${encoded(sessionId, 'sessionId')}`;
}

/** The approvals of a user, or those of one session. */
export function approvalsOf({ appName, userId, sessionId }: UserKey & { readonly sessionId?: string }): string {
  const place = sessionId === undefined ? userOf({ appName, userId }) : sessionOf({ appName, userId, sessionId });
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
export function usageOf({ appName, userId, sessionId }: UsageOwner): string {
  if (userId === undefined) return `${appOf({ appName })}/usage`;
  if (sessionId === undefined) return `${userOf({ appName, userId })}/usage`;
  return `${sessionOf({ appName, userId, sessionId })}/usage`;
}

function appOf({ appName }: StateOwner): string {
  return `/apps/${encoded(appName, 'appName')}`;
}

function userOf({ appName, userId }: UserKey): string {
  return `${appOf({ appName })}/users/${encoded(userId, 'userId')}`;
}

/** Refuses invalid ids: an empty one, or `..`, would lead to another path. */
function encoded(id: string, name: string): string {
  assertId(id, name);
  return encodeURIComponent(id);
}
