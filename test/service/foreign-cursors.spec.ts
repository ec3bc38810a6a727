import { InMemorySessionService, type SessionService } from '../../src/index.js';

const ANN = { appName: 'shop', userId: 'ann' };
const SET = (value: number) => ({ author: 'user', actions: { stateDelta: { value } } });

describe('A cursor of another session', () => {
  let sessions: SessionService;
  beforeEach(async () => {
    sessions = new InMemorySessionService();
    for (const sessionId of ['a', 'b']) {
      const session = await sessions.createSession({ ...ANN, sessionId });
      for (const value of [1, 2, 3]) await sessions.appendEvent({ session, event: SET(value) });
    }
  });
  afterEach(async () => sessions.close());

  it.each(['listEvents', 'stateChanges'] as const)('is told from a session that is missing, by %s', async (name) => {
    const { nextCursor: cursor } = await sessions[name]({ ...ANN, sessionId: 'a', limit: 1 });
    const code = 'SESSION_NOT_FOUND';
    const message = expect.stringContaining(
      'Session "b" is not the one that was read before, or that the cursor is of',
    );
    await expect(sessions[name]({ ...ANN, sessionId: 'b', cursor })).rejects.toMatchObject({ code, message });
    const missing = expect.stringContaining('Create it first.');
    await expect(sessions[name]({ ...ANN, sessionId: 'c', cursor })).rejects.toMatchObject({ code, message: missing });
  });
});
