import { SqliteFile } from '../support/sqlite-file.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { id: KEY.sessionId, appName: KEY.appName, userId: KEY.userId };

describe('a SQLite store that remembers a session', () => {
  it('writes nothing to the session of another user that got its key, as after the restore of a backup', async () => {
    const file = new SqliteFile();
    try {
      const sessions = await file.sessions();
      await sessions.createSession(KEY);
      const connection = file.connection();
      const changed = connection.prepare(
        `UPDATE agent_sessions SET user_id = 'eve', create_time = create_time + 1 WHERE user_id = 'ann'`,
      );
      expect(changed.run().changes).toBe(1);
      await expect(sessions.appendEvent({ session: SESSION, event: { author: 'user' } })).rejects.toMatchObject({
        code: 'SESSION_NOT_FOUND',
      });
      expect(connection.prepare('SELECT COUNT(*) AS events FROM agent_session_events').get()).toMatchObject({
        events: 0,
      });
    } finally {
      await file.remove();
    }
  });
});
