import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { diagnose } from '../../src/doctor/index.js';
import { importSessions, verifySessions } from '../../src/transfer/index.js';
import { linesOf } from './support.js';

const APP = { appName: 'shop' };
const USER = { ...APP, userId: 'ann' };
const LIMITS = { maxSessionStateBytes: 100, maxUserStateBytes: 60, maxAppStateBytes: 40 };
const large = 'x'.repeat(200);

const problem = (scope: string, bytes: number, most: string): object => ({
  problem: expect.stringMatching(`^the state of the ${scope} has ${bytes} bytes; at most ${most}`) as string,
});

describe('An import of state that is larger than its limit', () => {
  let lines: string[];

  beforeAll(async () => {
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage });
    await sessions.createSession({ ...USER, sessionId: 's-1', state: { k: large, 'user:k': large, 'app:k': large } });
    await sessions.createSession({ ...USER, sessionId: 's-2', state: { k: 1 } });
    lines = await linesOf(storage);
    await sessions.close();
  });

  it.each([true, false])('loses nothing, and says whose reads will be refused (dry run: %s)', async (dryRun) => {
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage, limits: LIMITS });
    const { excesses, oversized } = await importSessions(sessions, lines, { dryRun });
    expect(excesses).toHaveLength(oversized);
    expect(excesses).toEqual(
      expect.arrayContaining([
        { ...USER, sessionId: 's-1', ...problem('session', 203, '100') },
        { ...USER, ...problem('user', 203, '60') },
        { ...APP, ...problem('app', 203, '40') },
      ]),
    );
    expect(oversized).toBe(3);
    if (dryRun) return;
    expect(await verifySessions(storage, lines)).toMatchObject({ isEqual: true });
    // The doctor says the same.
    expect((await diagnose({ sessions })).findings.map(({ code }) => code)).toContain('STATE_TOO_LARGE');
    expect(await importSessions(sessions, lines)).toMatchObject({ oversized: 0, excesses: [] });
  });

  it('counts what the target has already', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    await sessions.updateUserState({ ...USER, stateDelta: { other: large } });
    const { excesses } = await importSessions(sessions, lines, { limits: { maxUserStateBytes: 300 } });
    expect(excesses).toMatchObject([{ ...USER, problem: expect.stringContaining('has 410 bytes') as string }]);
  });
});
