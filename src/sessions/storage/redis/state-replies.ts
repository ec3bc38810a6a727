import type { StoredSession } from '../session-storage.js';
import { type FlatHash, type SharedState, pairsOf, sharedStateOf } from './session-replies.js';

/** The state that a session shows, of all scopes. */
export function stateOfReply(
  session: FlatHash,
  userReply: FlatHash,
  app: SharedState,
): Pick<StoredSession, 'state' | 'scopeExpiry'> {
  const user = sharedStateOf(userReply);
  return {
    state: { session: pairsOf(session), user: user.entries, app: app.entries },
    scopeExpiry: {
      ...(user.expiresAt !== undefined && { user: user.expiresAt }),
      ...(app.expiresAt !== undefined && { app: app.expiresAt }),
    },
  };
}
