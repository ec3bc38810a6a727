import type { SessionKey, StateOwner } from '../../domain/ids.js';

/** A text for each user and each app. No id holds a control character, so no two share one. */
export function ownerNameOf({ appName, userId }: StateOwner): string {
  return userId === undefined ? appName : `${appName}\u0000${userId}`;
}

/** The same for each session. */
export function formatSessionKey({ appName, userId, sessionId }: SessionKey): string {
  return `${appName}\u0000${userId}\u0000${sessionId}`;
}
