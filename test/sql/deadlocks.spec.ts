import { type SessionService, StoreUnavailableError } from '../../src/index.js';
import { type SqlBench, describeSqlServers } from '../support/sql-bench.js';
import { countersLine, updatesOfRecords } from '../support/record-lines.js';
import type { RawConnection } from '../support/sql-servers.js';
import { noTransactionIsOpen, numberFrom, someoneWaitsForLock } from '../support/sql-transactions.js';
import { until } from '../support/until.js';

const USER = { appName: 'shop', userId: 'ann' };
const DEADLOCKS = 20;
const LOCKED = 8;
const FREE = 8;
/** Enough for successful appends on a busy machine. */
const LIMIT_MS = 5_000;
const SLACK_MS = 10_000;

/** Appends lock a scope that can expire. */
const LOCKS_SCOPES = { enabled: true, userStateSeconds: 3_600, appStateSeconds: 3_600 };

const SCOPE = (userId: string): string =>
  `SELECT pk FROM agent_shared_scopes WHERE app_name = 'shop' AND user_id = '${userId}' FOR UPDATE`;

describeSqlServers('Locks in a $name store', (bench) => {
  let raw: RawConnection;
  let observer: RawConnection;

  beforeEach(async () => {
    await bench().storage().open();
    [raw, observer] = await Promise.all([bench().connect(), bench().connect()]);
  });

  it(`do not fail appends after ${DEADLOCKS} deadlocks`, async () => {
    const sessions = bench().sessions({ ...settings(bench(), '200ms'), service: { ttl: LOCKS_SCOPES } });
    await sessions.createSession({ ...USER, sessionId: 's-1', state: { 'user:k': 0, 'app:k': 0 } });
    let givenWay = 0;
    for (let round = 1; round <= DEADLOCKS; round++) {
      // In every other deadlock, the server aborts the transaction of the store.
      if (bench().name === 'postgres') await raw.query(`SET deadlock_timeout = '${round % 2 ? '10s' : '5ms'}'`);
      await raw.query('BEGIN');
      await raw.query(SCOPE('ann'));
      const appending = sessions.append({
        session: { ...USER, id: 's-1' },
        event: { id: `e${round}`, author: 'user', actions: { stateDelta: { 'user:k': round, 'app:k': round } } },
      });
      await someoneWaitsForLock(bench().name, observer);
      await raw.query(SCOPE('')).catch(() => (givenWay += 1));
      await raw.query('ROLLBACK');
      expect(await appending).toMatchObject({ duplicate: false, event: { seq: round } });
      await noTransactionIsOpen(bench().name, observer);
    }
    if (bench().name === 'postgres') expect(givenWay).toBe(DEADLOCKS / 2);
    expect(await sessions.getAppState(USER)).toEqual({ k: DEADLOCKS });
    await bench().checkIntegrity();
  });

  it('do not fail appends that lock the same rows', async () => {
    const sessions = bench().sessions({ coalesceAppends: false });
    const users = ['ann', 'bob', 'cy'];
    for (const userId of users) await sessions.createSession({ appName: 'shop', userId, sessionId: 's-1' });
    // All of the first appends try to insert new scopes.
    const appends = Array.from({ length: 60 }, (_, number) => {
      const userId = users[number % 3] ?? '';
      const stateDelta = { [`user:k${number}`]: number, [`app:k${number}`]: number };
      const session = { appName: 'shop', userId, id: 's-1' };
      return sessions.append({ session, event: { id: `e${number}`, author: 'user', actions: { stateDelta } } });
    });
    await Promise.all(appends);
    expect(Object.keys(await sessions.getAppState(USER))).toHaveLength(60);
    await noTransactionIsOpen(bench().name, observer);
    await bench().checkIntegrity();
  });

  it('do not fail processes that compete for one lease', async () => {
    const { leases } = bench().storage({ poolSize: 20 });
    const takeTurns = async (holder: string): Promise<void> => {
      for (let turn = 1; turn <= 15; turn++) {
        const lease = await leases.acquire({ name: 'job', holder, ttlMs: 10_000 });
        if (lease) await leases.release(lease);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => takeTurns(`h-${index}`)));
    await noTransactionIsOpen(bench().name, observer);
  });

  it('on some sessions delay only appends to these, which succeed after the release', async () => {
    const sessions = bench().sessions({ timeLimitMs: 60_000 });
    await createSessions(sessions);
    await lockSome(raw);
    const { locked, free } = appendToAll(sessions, 1);
    expect(await Promise.all(free)).toHaveLength(FREE);
    await raw.query('ROLLBACK');
    for (const outcome of await Promise.all(locked)) expect(outcome).toMatchObject({ duplicate: false });
    await noTransactionIsOpen(bench().name, observer);
    await bench().checkIntegrity();
  });

  it('that are never released let appends fail within the time limit, with nothing written', async () => {
    const sessions = bench().sessions({ timeLimitMs: LIMIT_MS });
    await createSessions(sessions);
    await lockSome(raw);
    const start = performance.now();
    const { locked, free } = appendToAll(sessions, 1);
    const outcomes = await Promise.allSettled(locked);
    expect(performance.now() - start).toBeLessThan(LIMIT_MS + SLACK_MS);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { outcomeUnknown: false } });
      expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(StoreUnavailableError);
    }
    expect(await Promise.all(free)).toHaveLength(FREE);
    await raw.query('ROLLBACK');
    await noTransactionIsOpen(bench().name, observer);
    expect(await numberFrom(observer, 'SELECT COUNT(*) AS number FROM agent_session_events')).toBe(FREE);
    await Promise.all(appendToAll(sessions, 2).locked);
    await bench().checkIntegrity();
  });

  it('prevent an append to a session that a purge has begun to delete', async () => {
    const ttl = { enabled: true, sessionSeconds: 60 };
    const clockAt = (now: number) => ({ clock: { now: () => now }, service: { ttl, clock: { now: () => now } } });
    const writer = bench().sessions(clockAt(1_000_000));
    const remover = bench().sessions(clockAt(1_060_001));
    await writer.createSession({ ...USER, sessionId: 's-1' });
    await writer.appendEvent({ session: { ...USER, id: 's-1' }, event: { author: 'user' } });
    await fillLog(observer, bench().name, 5_200);

    await raw.query('BEGIN');
    const [session] = await observer.query('SELECT pk FROM agent_sessions');
    await raw.query(
      `SELECT seq FROM agent_session_events WHERE session_pk = ${Number(session?.pk)} AND seq = 5200 FOR UPDATE`,
    );
    const purging = remover.purgeExpired();
    const left = 'SELECT COUNT(*) AS number FROM agent_session_events';
    await until(async () => (await numberFrom(observer, left)) < 5_000, 'The purge has not begun');
    const late = writer.append({ session: { ...USER, id: 's-1' }, event: { author: 'user' } });
    await expect(late).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await raw.query('ROLLBACK');
    expect(await purging).toMatchObject({ sessions: 1 });
    expect(await numberFrom(observer, left)).toBe(0);
  });
});

function settings({ name }: SqlBench, deadlockTimeout: string) {
  return name === 'postgres' ? { driverOptions: { options: `-c deadlock_timeout=${deadlockTimeout}` } } : {};
}

async function createSessions(sessions: SessionService): Promise<void> {
  const ids = Array.from({ length: LOCKED + FREE }, (_, index) => `s-${index}`);
  await Promise.all(ids.map((sessionId) => sessions.createSession({ ...USER, sessionId })));
}

async function lockSome(raw: RawConnection): Promise<void> {
  const ids = Array.from({ length: LOCKED }, (_, index) => `'s-${index}'`);
  await raw.query('BEGIN');
  await raw.query(`
    SELECT pk FROM agent_sessions
    WHERE app_name = 'shop' AND user_id = 'ann' AND session_id IN (${ids.join()}) FOR UPDATE`);
}

/** Concurrently, so that they share transactions. */
function appendToAll(sessions: SessionService, number: number) {
  const appends = Array.from({ length: LOCKED + FREE }, (_, index) =>
    sessions.append({ session: { ...USER, id: `s-${index}` }, event: { id: `e${number}`, author: 'user' } }),
  );
  return { locked: appends.slice(0, LOCKED), free: appends.slice(LOCKED) };
}

function lastIs(count: number): Record<'last' | 'tip' | 'counters', string | number> {
  return { last: count, tip: count, counters: countersLine({ events: count }) };
}

/** Copies the only event to the following numbers. */
async function fillLog(raw: RawConnection, server: SqlBench['name'], count: number): Promise<void> {
  const list = JSON.stringify(Array.from({ length: count - 1 }, (_, index) => index + 2));
  const numbers =
    server === 'postgres'
      ? `(SELECT generate_series(2, ${count}) AS seq)`
      : `JSON_TABLE('${list}', '$[*]' COLUMNS (seq INT PATH '$'))`;
  await raw.query(`
    INSERT INTO agent_session_events (session_pk, seq, event_id, digest, appended_at, high_water, anchor, event_group, payload)
    SELECT e.session_pk, n.seq, CONCAT('f', n.seq), e.digest, e.appended_at, e.high_water, 0, e.event_group, e.payload
    FROM agent_session_events e CROSS JOIN ${numbers} n`);
  const rows = await raw.query('SELECT pk, record FROM agent_sessions');
  const changes = (lineOf: (name: 'stamp') => string) => ({ ...lastIs(count), stamp: Number(lineOf('stamp')) + 1 });
  for (const statement of updatesOfRecords(rows, changes)) await raw.query(statement);
}
