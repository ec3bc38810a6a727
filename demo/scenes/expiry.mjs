import { setTimeout as delay } from 'node:timers/promises';
import { SessionsClient } from 'nestjs-agent-sessions/client';
import { expectThat, heading, result, step } from '../screen.mjs';

/** Sessions live for a second, from now on. */
export const EXPIRY_SETTINGS = {
  SESSIONS_TTL_ENABLED: 'true',
  SESSIONS_TTL_SESSION_SECONDS: '1',
};

const OWNER = { appName: 'shop', userId: 'guest' };

/** A session that nobody comes back to. */
export async function showExpiry(url) {
  heading('What nobody comes back to goes');
  const client = new SessionsClient({ url });
  const { id: sessionId } = await client.createSession({ ...OWNER, state: { 'user:seen': true } });
  step('The app was started again with a TTL of one second; a guest opens a session, and leaves');
  const startedAt = performance.now();
  // Looking at the list keeps nothing alive.
  while ((await client.listSessions(OWNER)).sessions.length > 0) await delay(50);
  const session = await client.getSession({ ...OWNER, sessionId });
  result(`after ${((performance.now() - startedAt) / 1000).toFixed(1)} s it is ${session ? 'still there' : 'gone'}`);
  const { seen } = await client.getUserState(OWNER);
  result(`what belongs to the guest, and not to the session, stays: seen ${String(seen)}`);
  expectThat(session === undefined && seen === true, 'expiry');
}
