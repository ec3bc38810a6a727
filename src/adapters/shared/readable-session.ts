import type { Session, SessionService } from '../../index.js';

/**
 * A session of a list, for an adapter that needs its state or its fields. One that cannot be decrypted is listed without them: reading it
 * throws the error that says why.
 */
export async function readableSession(sessions: SessionService, session: Session): Promise<Session> {
  if (!session.unreadable) return session;
  const { appName, userId, id: sessionId } = session;
  return (await sessions.getSession({ appName, userId, sessionId, config: { numRecentEvents: 0 } })) ?? session;
}
