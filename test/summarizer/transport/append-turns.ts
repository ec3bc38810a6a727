import type { SessionService } from '../../../src/index.js';
import { KEY, SESSION, turns } from '../summarized-sessions.js';

/** The path of the session in these tests. */
export const PATH = '/apps/shop/users/ann/sessions/one';

/** Appends turns to the session, and creates it if necessary. */
export async function appendTurns(sessions: SessionService, from: number, to: number): Promise<void> {
  await sessions.getOrCreateSession(KEY);
  for (const event of turns(from, to)) await sessions.appendEvent({ session: SESSION, event });
}
