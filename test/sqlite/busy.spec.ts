import { setTimeout as delay } from 'node:timers/promises';
import { StoreUnavailableError } from '../../src/index.js';
import { observedDriver } from '../support/observed-driver.js';
import { everythingSaidBy } from '../support/said-by-error.js';
import { SqliteFile } from '../support/sqlite-file.js';

const USER = { appName: 'shop', userId: 'ann' };
const SECRET = 'canary-f7c1';

describe('while another process holds the write lock', () => {
  let file: SqliteFile;

  beforeEach(() => {
    file = new SqliteFile();
  });

  afterEach(async () => {
    await file.remove();
  });

  it('an append waits, and everything else in this process goes on', async () => {
    const sessions = await file.sessions();
    const session = await sessions.createSession(USER);
    const other = file.connection();
    other.exec('BEGIN IMMEDIATE');
    const startedAt = performance.now();
    const appending = sessions.appendEvent({ session, event: { author: 'user' } });

    let longestPause = 0;
    for (let last = startedAt; last < startedAt + 1_500;) {
      await delay(1);
      const now = performance.now();
      longestPause = Math.max(longestPause, now - last);
      last = now;
    }
    expect(session.version).toBe(0);
    other.exec('COMMIT');

    await expect(appending).resolves.toMatchObject({ seq: 1 });
    // The driver itself waits for a few milliseconds at a time; far from the 1,500 that the lock was held.
    expect(longestPause).toBeLessThan(1_000);
  });

  it('an append gives up after the time limit, says nothing of its content, and the next one works', async () => {
    const sessions = await file.sessions({ timeLimitMs: 100 });
    const session = await sessions.createSession(USER);
    const event = {
      id: 'e-1',
      author: 'user',
      content: { parts: [{ text: SECRET }] },
      actions: { stateDelta: { k: SECRET } },
    };
    const other = file.connection();
    other.exec('BEGIN IMMEDIATE');
    const error: unknown = await sessions.appendEvent({ session, event }).catch((thrown: unknown) => thrown);
    other.exec('COMMIT');

    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', status: 503, outcomeUnknown: false });
    expect(everythingSaidBy(error)).not.toContain(SECRET);
    expect(session).toMatchObject({ version: 0, events: [] });
    expect(await sessions.append({ session, event })).toMatchObject({ event: { seq: 1 }, duplicate: false });
  });

  it('reads go on, also after an append gave up', async () => {
    const sessions = await file.sessions({ timeLimitMs: 50 });
    const session = await sessions.createSession({ ...USER, state: { step: 1 } });
    const other = file.connection();
    other.exec('BEGIN IMMEDIATE');
    await expect(sessions.appendEvent({ session, event: {} })).rejects.toThrow(StoreUnavailableError);
    for (let time = 0; time < 3; time++) {
      const read = await sessions.getSession({ ...USER, sessionId: session.id });
      expect(read?.state.step).toBe(1);
    }
    other.exec('COMMIT');
    expect((await sessions.getSession({ ...USER, sessionId: session.id }))?.version).toBe(0);
  });

  it('whoever queued up behind a lock gives up with the first, not after another time limit each', async () => {
    const sessions = await file.sessions({ timeLimitMs: 200 });
    const session = await sessions.createSession(USER);
    const other = file.connection();
    other.exec('BEGIN IMMEDIATE');
    const startedAt = performance.now();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => sessions.appendEvent({ session, event: {} })),
    );
    expect(performance.now() - startedAt).toBeLessThan(20 * 200 - 200);
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 'rejected'));

    // Whoever comes later has the whole limit again.
    const later = sessions.appendEvent({ session, event: {} });
    await delay(100);
    other.exec('COMMIT');
    await expect(later).resolves.toMatchObject({ seq: 1 });
  });

  it('a read that got through in between gives nobody who queued up another time limit', async () => {
    const seen: string[] = [];
    const driver = observedDriver({ beforeStatement: ({ text }) => void seen.push(text) });
    const sessions = await file.sessions({ timeLimitMs: 50, driver });
    const { id: sessionId } = await sessions.createSession(USER);
    const other = file.connection();
    other.exec('BEGIN IMMEDIATE');
    const outcomes = await Promise.allSettled([
      sessions.updateUserState({ ...USER, stateDelta: { step: 1 } }),
      sessions.getSession({ ...USER, sessionId }),
      sessions.updateUserState({ ...USER, stateDelta: { step: 2 } }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    // Tried once, for it had waited for all of its time behind the first.
    const afterRead = seen.slice(seen.lastIndexOf('BEGIN') + 1);
    expect(afterRead.filter((text) => text.startsWith('BEGIN'))).toEqual(['BEGIN IMMEDIATE']);
    other.exec('COMMIT');
  });

  it('a store that is opened waits as well, and can be opened later if that was too long', async () => {
    await (await file.sessions()).close();
    const other = file.connection();
    other.exec('BEGIN IMMEDIATE');
    const storage = file.storage({ timeLimitMs: 5_000 });
    await expect(file.storage({ timeLimitMs: 50 })).rejects.toMatchObject({ outcomeUnknown: false });
    other.exec('COMMIT');
    await expect((await storage).list({ ...USER, orderBy: 'createTime', order: 'asc', limit: 1 })).resolves.toEqual({
      sessions: [],
    });
  });
});
