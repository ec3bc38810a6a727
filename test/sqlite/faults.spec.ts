import { StoreUnavailableError } from '../../src/index.js';
import type { SessionService } from '../../src/index.js';
import { ManualClock } from '../../src/testing/index.js';
import { type DriverObserver, type SentStatement, observedDriver } from '../support/observed-driver.js';
import { allTextOf } from '../support/error-text.js';
import { SqliteFile } from '../support/sqlite-file.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { id: KEY.sessionId, appName: KEY.appName, userId: KEY.userId };
const EVENT = {
  id: 'e-2',
  author: 'user',
  content: { role: 'user', parts: [{ text: 'canary-b04e' }] },
  actions: {
    stateDelta: { step: 2, 'user:step': 2, 'app:step': 2 },
    stateRemovals: ['old', 'user:old', 'app:old'],
  },
};
/** The state has rows only if it is large. */
const LARGE = 'x'.repeat(2_000);
const BEFORE = { step: 1, old: 1, large: LARGE, 'user:step': 1, 'user:old': 1, 'app:step': 1, 'app:old': 1 };
const AFTER = { step: 2, large: LARGE, 'user:step': 2, 'app:step': 2 };

/** The statements of an append. */
const STATEMENTS = [
  'BEGIN IMMEDIATE',
  'SELECT s.app_name',
  'SELECT c.pk',
  'UPDATE "agent_sessions"',
  'INSERT INTO "agent_session_events"',
  'INSERT INTO "agent_session_state"',
  'DELETE FROM "agent_session_state"',
  'INSERT INTO "agent_shared_state"',
  'DELETE FROM "agent_shared_state"',
  'DELETE FROM "agent_shared_state"',
  'UPDATE "agent_shared_scopes"',
  'UPDATE "agent_shared_scopes"',
  'DELETE FROM "agent_shared_scopes"',
  'DELETE FROM "agent_shared_scopes"',
  'COMMIT',
];

/** Makes a driver fail at chosen statements. */
class FailingDriver implements DriverObserver {
  readonly seen: string[] = [];
  failure = 'SQLITE_IOERR';
  /** Which statements fail, counted from 0, and whether after their execution. */
  fails: (index: number, text: string, isExecuted: boolean) => boolean = () => false;

  beforeStatement({ text }: SentStatement): void {
    this.seen.push(text.trim());
    this.#check(text, false);
  }

  afterStatement({ text }: SentStatement): void {
    this.#check(text, true);
  }

  #check(text: string, isExecuted: boolean): void {
    if (this.fails(this.seen.length - 1, text, isExecuted)) {
      throw Object.assign(new Error(`disk I/O error in ${text}`), { code: this.failure });
    }
  }
}

describe('an append whose driver fails', () => {
  let file: SqliteFile;
  let failingDriver: FailingDriver;
  let sessions: SessionService;

  beforeEach(async () => {
    file = new SqliteFile();
    failingDriver = new FailingDriver();
    sessions = await file.sessions({ driver: observedDriver(failingDriver) });
    await sessions.createSession(KEY);
    await sessions.appendEvent({
      session: SESSION,
      event: { author: 'user', id: 'e-1', actions: { stateDelta: BEFORE } },
    });
    failingDriver.seen.length = 0;
  });

  afterEach(async () => {
    await file.remove();
  });

  it('sends the statements that the tests below fail', async () => {
    await sessions.appendEvent({ session: SESSION, event: EVENT });
    expect(failingDriver.seen).toHaveLength(STATEMENTS.length);
    for (const [index, beginning] of STATEMENTS.entries()) expect(failingDriver.seen[index]).toContain(beginning);
  });

  const faults = STATEMENTS.flatMap((text, index) => [
    { text, index, isExecuted: false, when: 'before' },
    { text, index, isExecuted: true, when: 'after' },
  ]);

  it.each(faults)('$when statement $index ($text) stores all or nothing', async ({ text, index, isExecuted }) => {
    failingDriver.fails = (sent, _text, done) => sent === index && done === isExecuted;
    const error: unknown = await sessions.appendEvent({ session: SESSION, event: EVENT }).catch((thrown) => thrown);
    failingDriver.fails = () => false;

    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ outcomeUnknown: text === 'COMMIT' });
    expect(allTextOf(error)).not.toContain('canary');
    const isStored = text === 'COMMIT' && isExecuted;
    await expectToHold(isStored);
    await expectAnotherToSee(isStored);

    const repeated = await sessions.append({ session: SESSION, event: EVENT });
    expect(repeated).toMatchObject({ event: { seq: 2 }, duplicate: isStored });
    await expectToHold(true);
    await expectAnotherToSee(true);
  });

  it('because the disk is full when it commits stores nothing, and says so', async () => {
    failingDriver.failure = 'SQLITE_FULL';
    failingDriver.fails = (_sent, text, done) => text === 'COMMIT' && !done;
    const error: unknown = await sessions.appendEvent({ session: SESSION, event: EVENT }).catch((thrown) => thrown);
    failingDriver.fails = () => false;
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ outcomeUnknown: false });
    expect(String(error)).toContain('its disk is full');
    await expectToHold(false);
    await expectAnotherToSee(false);
  });

  it('together with others acknowledges exactly what is stored', async () => {
    const events = ['a', 'b', 'c'].map((name) => ({
      id: name,
      author: 'user',
      actions: { stateDelta: { [name]: 1 } },
    }));
    for (let failing = 0; ; failing++) {
      const session = await sessions.createSession({ ...KEY, sessionId: `several-${failing}` });
      failingDriver.seen.length = 0;
      let hasFailed = false;
      failingDriver.fails = (sent) => !hasFailed && sent === failing && (hasFailed = true);
      const outcomes = await Promise.allSettled(events.map((event) => sessions.append({ session, event })));
      failingDriver.fails = () => false;

      const acknowledged = outcomes.flatMap((outcome) =>
        outcome.status === 'fulfilled' ? [outcome.value.event.id] : [],
      );
      const stored = await sessions.listEvents({ ...KEY, sessionId: session.id });
      expect(stored.events.map(({ id }) => id)).toEqual(acknowledged);
      expect(stored.events.map(({ seq }) => seq)).toEqual(acknowledged.map((_, index) => index + 1));
      for (const event of events) await sessions.append({ session, event });
      const read = await sessions.getSession({ ...KEY, sessionId: session.id });
      expect(read?.version).toBe(3);
      expect(read?.state.toRecord()).toMatchObject({ a: 1, b: 1, c: 1 });
      if (!hasFailed) break;
    }
  });

  it('recovers after a failed rollback', async () => {
    failingDriver.fails = (_index, text, done) => !done && /COMMIT|ROLLBACK/.test(text);
    await expect(sessions.appendEvent({ session: SESSION, event: EVENT })).rejects.toMatchObject({
      outcomeUnknown: true,
    });
    failingDriver.fails = () => false;
    await expectToHold(false);
    expect(await sessions.append({ session: SESSION, event: EVENT })).toMatchObject({ duplicate: false });
    await expectAnotherToSee(true);
  });

  async function expectToHold(isStored: boolean, seenBy: SessionService = sessions): Promise<void> {
    const read = await seenBy.getSession(KEY);
    expect(read?.events.map(({ id, seq }) => [id, seq])).toEqual([['e-1', 1], ...(isStored ? [['e-2', 2]] : [])]);
    expect(read).toMatchObject({ version: isStored ? 2 : 1, conversationCount: isStored ? 1 : 0 });
    expect(read?.state.toRecord()).toEqual(isStored ? AFTER : BEFORE);
  }

  /** Reads committed data over another connection. */
  async function expectAnotherToSee(isStored: boolean): Promise<void> {
    const another = await file.sessions();
    await expectToHold(isStored, another);
    await another.close();
  }
});

describe('a read whose renewal fails', () => {
  it('still returns its result', async () => {
    const file = new SqliteFile();
    const failingDriver = new FailingDriver();
    const clock = new ManualClock();
    const ttl = { enabled: true, sessionSeconds: 100, userStateSeconds: 100, appStateSeconds: 100 };
    const sessions = await file.sessions({ driver: observedDriver(failingDriver), clock, service: { clock, ttl } });
    await sessions.createSession({ ...KEY, state: BEFORE });
    clock.advanceSeconds(90);
    failingDriver.fails = (_index, text) => text.trim().startsWith('UPDATE');
    expect(await sessions.getUserState(KEY)).toEqual({ step: 1, old: 1 });
    expect(await sessions.getAppState(KEY)).toEqual({ step: 1, old: 1 });
    failingDriver.fails = () => false;
    await sessions.getUserState(KEY);
    clock.advanceSeconds(90);
    expect(await sessions.getUserState(KEY)).toEqual({ step: 1, old: 1 });
    expect(await sessions.getAppState(KEY)).toEqual({});
    await file.remove();
  });
});
