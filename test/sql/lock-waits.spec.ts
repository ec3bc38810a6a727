import type { SessionService } from '../../src/index.js';
import { describeSqlServers } from '../support/sql-bench.js';
import { updatesOfRecords } from '../support/record-lines.js';
import type { RawConnection } from '../support/sql-servers.js';
import { numberFrom, someoneWaitsForLock } from '../support/sql-transactions.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const TTL = { enabled: true, sessionSeconds: 60 };
const USER_TTL = { enabled: true, userStateSeconds: 60 };
/** Shorter than the lock timeout. */
const SHORTLY_MS = 100;

const SERVER_NOW = {
  mariadb: "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000 AS number",
  postgres: 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS number',
};

describeSqlServers('An append that waits for a lock in a $name store', (bench) => {
  let holder: RawConnection;
  let observer: RawConnection;

  beforeEach(async () => {
    await bench().storage().open();
    [holder, observer] = await Promise.all([bench().connect(), bench().connect()]);
  });

  async function holdSession(): Promise<void> {
    await holder.query('BEGIN');
    await holder.query("SELECT pk FROM agent_sessions WHERE session_id = 's-1' FOR UPDATE");
  }

  function serverNow(): Promise<number> {
    return numberFrom(observer, SERVER_NOW[bench().name]);
  }

  /** Sets an expiry after the start of a waiting append, and releases the lock after the expiry. */
  async function expiresWhileHeld(table: string): Promise<number> {
    const expiry = (await serverNow()) + SHORTLY_MS;
    if (table === 'agent_sessions') {
      const rows = await holder.query('SELECT pk, record FROM agent_sessions');
      for (const statement of updatesOfRecords(rows, { expires: expiry })) await holder.query(statement);
    } else {
      await holder.query(`UPDATE ${table} SET expires_at = ${expiry}`);
    }
    await until(async () => (await serverNow()) > expiry, 'The clock of the server does not advance');
    await holder.query('COMMIT');
    return expiry;
  }

  describe('behind an append to the same session', () => {
    const original = { id: 'e-1', author: 'user', actions: { stateDelta: { 'app:k': 1 } } };

    /** Lets `second` wait until the original has released the session. */
    async function afterOriginal<Result>(
      second: () => Promise<Result>,
      before: (sessions: SessionService) => Promise<unknown> = async () => undefined,
    ): Promise<Result> {
      const first = bench().sessions();
      await first.createSession({ ...KEY, state: { 'app:k': 0 } });
      await before(first);
      await holder.query('BEGIN');
      await holder.query("SELECT pk FROM agent_shared_scopes WHERE user_id = '' FOR UPDATE");
      const appending = first.append({ session: SESSION, event: original });
      await someoneWaitsForLock(bench().name, observer);
      const waiting = second();
      // It may reject before it is awaited.
      waiting.catch(() => undefined);
      await someoneWaitsForLock(bench().name, observer, 2);
      await holder.query('ROLLBACK');
      expect(await appending).toMatchObject({ duplicate: false });
      return waiting;
    }

    let other: SessionService;
    beforeEach(async () => {
      other = bench().sessions();
      await other.getSession(KEY);
    });

    it('is recognised as a repetition, also with the previous expected version', async () => {
      const repeated = await afterOriginal(() =>
        other.append({ session: SESSION, event: original, expectedVersion: 0 }),
      );
      expect(repeated).toMatchObject({ duplicate: true, event: { id: 'e-1', seq: 1 } });
    });

    it('is recognised as a repetition of several events, of which one was stored long before', async () => {
      const older = { id: 'e-0', author: 'user' };
      const repeated = await afterOriginal(
        () => other.appendBatch({ session: SESSION, events: [older, original] }),
        (sessions) => sessions.appendEvent({ session: SESSION, event: older }),
      );
      expect(repeated).toMatchObject({ duplicate: true, events: [{ seq: 1 }, { seq: 2 }] });
    });

    it('is stale if it is another event', async () => {
      const late = afterOriginal(() =>
        other.append({ session: SESSION, event: { ...original, id: 'e-2' }, expectedVersion: 0 }),
      );
      await expect(late).rejects.toMatchObject({ code: 'STALE_SESSION', currentVersion: 1 });
    });

    it('is refused if its id belongs to another event', async () => {
      const conflicting = afterOriginal(() =>
        other.append({ session: SESSION, event: { ...original, actions: {} }, expectedVersion: 0 }),
      );
      await expect(conflicting).rejects.toMatchObject({ code: 'EVENT_CONFLICT' });
    });
  });

  describe('while its session or scope expires', () => {
    it.each([true, false])('finds no session, by the clock of the app (shared transactions: %j)', async (isOn) => {
      let now = 1_000_000;
      const clock = { now: () => now };
      const sessions = bench().sessions({ clock, coalesceAppends: isOn, service: { clock, ttl: TTL } });
      await sessions.createSession(KEY);
      await holdSession();
      const appending = sessions.append({ session: SESSION, event: { author: 'user' } });
      await someoneWaitsForLock(bench().name, observer);
      now += 60_000;
      await holder.query('ROLLBACK');
      await expect(appending).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
      now -= 1;
      expect((await sessions.getSession(KEY))?.version).toBe(0);
    });

    it("finds no session, by the server's clock", async () => {
      const sessions = bench().sessions({ service: { ttl: TTL } });
      await sessions.createSession(KEY);
      await holdSession();
      const appending = sessions.append({ session: SESSION, event: { author: 'user' } });
      const refused = expect(appending).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
      await someoneWaitsForLock(bench().name, observer);
      const expiry = await expiresWhileHeld('agent_sessions');
      await refused;
      expect(await numberFrom(observer, 'SELECT expires_at AS number FROM agent_sessions')).toBe(expiry);
    });

    it("does not restore expired user state, by the server's clock", async () => {
      const sessions = bench().sessions({ service: { ttl: USER_TTL } });
      await sessions.createSession({ ...KEY, state: { 'user:old': 1 } });
      await holder.query('BEGIN');
      await holder.query('SELECT pk FROM agent_shared_scopes FOR UPDATE');
      const event = { author: 'user', actions: { stateDelta: { 'user:new': 1 } } };
      const appending = sessions.append({ session: SESSION, event });
      await someoneWaitsForLock(bench().name, observer);
      await expiresWhileHeld('agent_shared_scopes');
      await appending;
      expect(await sessions.getUserState(KEY)).toEqual({ new: 1 });
    });
  });
});
