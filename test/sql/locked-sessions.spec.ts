import type { SessionService } from '../../src/index.js';
import { describeSqlServers } from '../support/sql-bench.js';
import type { RawConnection } from '../support/sql-servers.js';

const USER = { appName: 'shop', userId: 'ann' };
/** More than connections. */
const LOCKED = 12;
const POOL_SIZE = 4;
const LIMIT_MS = 8_000;
/** With one lock wait in each round, the test would take longer than the time limit of an append. */
const ROUNDS = 10;
/** For an append that waits for half of this time. The rest is enough on a busy machine. */
const SHORT_LIMIT_MS = 6_000;

describeSqlServers('Sessions that another transaction has locked in a $name store', (bench) => {
  let holder: RawConnection;

  beforeEach(async () => {
    await bench().storage().open();
    holder = await bench().connect();
  });

  it('do not delay other sessions or use up the connections', async () => {
    const sessions = bench().sessions({ timeLimitMs: LIMIT_MS, poolSize: POOL_SIZE });
    const locked = Array.from({ length: LOCKED }, (_, index) => `locked-${index}`);
    for (const sessionId of [...locked, 'free-1', 'free-2']) await sessions.createSession({ ...USER, sessionId });
    await holder.query('BEGIN');
    // One by one, because a server may scan and lock a whole small table.
    for (const id of locked) {
      await holder.query(`
        SELECT pk FROM agent_sessions WHERE app_name = 'shop' AND user_id = 'ann' AND session_id = '${id}' FOR UPDATE`);
    }

    // The first ones share a transaction with a free session. The later ones arrive while they wait.
    const held = [...locked, ...locked].map((id, index) => appendTo(sessions, id, `e-${index}`));
    let settled = 0;
    const all = Promise.allSettled(held.map((append) => append.finally(() => (settled += 1))));
    for (let number = 1; number <= ROUNDS; number++) {
      await Promise.all([appendTo(sessions, 'free-1', `e-${number}`), appendTo(sessions, 'free-2', `e-${number}`)]);
      await sessions.getSession({ ...USER, sessionId: 'free-1' });
    }
    expect(settled).toBe(0);
    for (const outcome of await all) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { outcomeUnknown: false } });
    }
    await holder.query('ROLLBACK');
    const { sessions: listed } = await sessions.listSessions(USER);
    const versions = await Promise.all(
      listed.map(async ({ id }) => [id.startsWith('free'), (await read(sessions, id))?.version]),
    );
    expect(versions.filter(([isFree, version]) => version !== (isFree ? ROUNDS : 0))).toEqual([]);
  });
});

describeSqlServers('A shared transaction without any answer from a $name server', (bench) => {
  it('leaves enough time to append separately', async () => {
    await bench().storage().open();
    const { proxy, behind } = await bench().proxy();
    const sessions = bench().sessions({ ...behind, timeLimitMs: SHORT_LIMIT_MS });
    for (const sessionId of ['s-1', 's-2']) await sessions.createSession({ ...USER, sessionId });
    let shared: number | undefined;
    proxy.filter = ({ from, data, connection }) => {
      if (from === 'client' && data.includes('SKIP LOCKED')) shared ??= connection;
      return connection === shared ? 'drop' : 'pass';
    };
    const appends = ['s-1', 's-2'].map((id) => appendTo(sessions, id, 'e-1'));
    for (const outcome of await Promise.all(appends)) expect(outcome).toMatchObject({ duplicate: false });
    expect(shared).toBeDefined();
  });
});

function appendTo(sessions: SessionService, id: string, eventId: string) {
  return sessions.append({ session: { ...USER, id }, event: { id: eventId, author: 'user' } });
}

function read(sessions: SessionService, sessionId: string) {
  return sessions.getSession({ ...USER, sessionId });
}
