import { setTimeout as delay } from 'node:timers/promises';
import { StoreUnavailableError } from '../../src/index.js';
import { observedDriver } from '../support/observed-driver.js';
import { allTextOf } from '../support/error-text.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { until } from '../support/until.js';

const USER = { appName: 'shop', userId: 'ann' };
const SECRET = 'canary-f7c1';
const TURNS = 200;

describe('while another process holds the write lock', () => {
  let file: SqliteFile;

  beforeEach(() => {
    file = new SqliteFile();
  });

  afterEach(async () => {
    await file.remove();
  });

  it('an append waits without blocking the event loop', async () => {
    const sessions = await file.sessions({ timeLimitMs: 10_000 });
    const session = await sessions.createSession(USER);
    const other = file.connection();
    other.exec('BEGIN IMMEDIATE');
    const appending = sessions.appendEvent({ session, event: { author: 'user' } });

    // The driver waits for a few milliseconds at a time. If it waited longer, the append would time out by then.
    for (let turn = 0; turn < TURNS; turn++) await delay(1);
    expect(session.version).toBe(0);
    other.exec('COMMIT');

    await expect(appending).resolves.toMatchObject({ seq: 1 });
  });

  it('an append fails after the time limit without revealing its content, and the next one works', async () => {
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
    expect(allTextOf(error)).not.toContain(SECRET);
    expect(session).toMatchObject({ version: 0, events: [] });
    expect(await sessions.append({ session, event })).toMatchObject({ event: { seq: 1 }, duplicate: false });
  });

  it('reads work, also after an append timed out', async () => {
    const sessions = await file.sessions({ timeLimitMs: 50 });
    const session = await sessions.createSession({ ...USER, state: { step: 1 } });
    const other = file.connection();
    other.exec('BEGIN IMMEDIATE');
    await expect(sessions.appendEvent({ session, event: { author: 'user' } })).rejects.toThrow(StoreUnavailableError);
    for (let time = 0; time < 3; time++) {
      const read = await sessions.getSession({ ...USER, sessionId: session.id });
      expect(read?.state.step).toBe(1);
    }
    other.exec('COMMIT');
    expect((await sessions.getSession({ ...USER, sessionId: session.id }))?.version).toBe(0);
  });

  it('queued appends fail together with the first, not after another time limit each', async () => {
    let tries = 0;
    const driver = observedDriver({
      beforeStatement: ({ text }) => void (tries += text === 'BEGIN IMMEDIATE' ? 1 : 0),
    });
    // Each in its own transaction.
    const sessions = await file.sessions({ timeLimitMs: 2_000, coalesceAppends: false, driver });
    const session = await sessions.createSession(USER);
    const other = file.connection();
    other.exec('BEGIN IMMEDIATE');
    let triesAtFirst: number | undefined;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        sessions.appendEvent({ session, event: { author: 'user' } }).finally(() => (triesAtFirst ??= tries)),
      ),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 'rejected'));
    // Each tries once and does not wait again.
    expect(tries - (triesAtFirst ?? 0)).toBeLessThanOrEqual(19);

    // A later append has the full time limit.
    tries = 0;
    const later = sessions.appendEvent({ session, event: { author: 'user' } });
    await until(() => tries > 2);
    other.exec('COMMIT');
    await expect(later).resolves.toMatchObject({ seq: 1 });
  });

  it('a successful read in between does not extend the time limit of queued appends', async () => {
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
    // Tried once, because it spent its time limit behind the first.
    const afterRead = seen.slice(seen.lastIndexOf('BEGIN') + 1);
    expect(afterRead.filter((text) => text.startsWith('BEGIN'))).toEqual(['BEGIN IMMEDIATE']);
    other.exec('COMMIT');
  });

  it('opening a store waits, too, and works later after a timeout', async () => {
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
