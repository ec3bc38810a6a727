import { type SessionKey, type StateOwner, type UserKey, assertId } from '../sessions/domain/ids.js';

export function appStateOf({ appName }: StateOwner): string {
  return `/apps/${encoded(appName, 'appName')}/state`;
}

export function userStateOf(owner: UserKey): string {
  return `${userOf(owner)}/state`;
}

export function sessionsOf(owner: UserKey): string {
  return `${userOf(owner)}/sessions`;
}

export function sessionOf({ sessionId, ...owner }: SessionKey): string {
  return `${sessionsOf(owner)}/${encoded(sessionId, 'sessionId')}`;
}

function userOf({ appName, userId }: UserKey): string {
  return `/apps/${encoded(appName, 'appName')}/users/${encoded(userId, 'userId')}`;
}

/** What is no id is refused here: an empty one, or `..`, would lead to another path. */
function encoded(id: string, name: string): string {
  assertId(id, name);
  return encodeURIComponent(id);
}
