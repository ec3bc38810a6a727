import type { StateOwner, UserKey } from '../domain/values/ids.js';

/** The app and the user whose state the sessions of a user share. */
export function sharedOwnersOf({ appName, userId }: UserKey): readonly [app: StateOwner, user: StateOwner] {
  return [{ appName }, { appName, userId }];
}

/** A unique text for each user and each app: ids contain no control characters. */
export function ownerNameOf({ appName, userId }: StateOwner): string {
  return userId === undefined ? appName : `${appName}\u0000${userId}`;
}
