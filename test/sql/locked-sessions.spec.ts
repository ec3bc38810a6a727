import type { SessionService } from '../../src/index.js';
import { describeSqlServers } from '../support/sql-bench.js';
import type { RawConnection } from '../support/sql-servers.js';

const USER = { appName: 'shop', userId: 'ann' };
/** More than there are connections. */
const LOCKED = 12;
const POOL_SIZE = 4;
const LIMIT_MS = 2_500;
/** Shorter than anybody waits for a lock before he gives way. */
const SOON_MS = 900;

describeSqlServers('Sessions that a foreign transaction holds in a $name store', (bench) => {
  let holder: RawConnection;

  beforeEach(async () => {
    await bench().storage().open();
    holder = await bench().connect();
  });

  it('hold up no other, and leave connections for them', async () => {
    const sessions = bench().sessions({ timeLimitMs: LIMIT_MS, poolSize: POOL_SIZE });
    const locked = Array.from({ length: LOCKED }, (_, index) => `locked-${index}`);
    for (const sessionId of [...locked, 'free-1', 'free-2']) await sessions.createSession({ ...USER, sessionId });
    await holder.query('BEGIN');
    // One by one, since a server may walk over a small table and lock all of it.
    for (const id of locked) {
      await holder.query(`
        SELECT pk FROM agent_sessions WHERE app_name = 'shop' AND user_id = 'ann' AND session_id = '${id}' FOR UPDATE`);
    }

    // The first ones share a transaction with a free one; the later ones come while they wait.
    const held = [...locked, ...locked].map((id, index) => appendTo(sessions, id, `e-${index}`));
    const settled = Promise.allSettled(held);
    for (let number = 1; number <= 20; number++) {
      const start = performance.now();
      await Promise.all([appendTo(sessions, 'free-1', `e-${number}`), appendTo(sessions, 'free-2', `e-${number}`)]);
      await sessions.getSession({ ...USER, sessionId: 'free-1' });
      expect(performance.now() - start).toBeLessThan(SOON_MS);
    }
    for (const outcome of await settled) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { outcomeUnknown: false } });
    }
    await holder.query('ROLLBACK');
    const { sessions: listed } = await sessions.listSessions(USER);
    const versions = await Promise.all(
      listed.map(async ({ id }) => [id.startsWith('free'), (await read(sessions, id))?.version]),
    );
    expect(versions.filter(([isFree, version]) => version !== (isFree ? 20 : 0))).toEqual([]);
  });
});

describeSqlServers('A shared transaction of which nothing comes back from a $name server', (bench) => {
  it('leaves its appends time enough to go alone', async () => {
    await bench().storage().open();
    const { proxy, behind } = await bench().proxy();
    const sessions = bench().sessions({ ...behind, timeLimitMs: LIMIT_MS });
    for (const sessionId of ['s-1', 's-2']) await sessions.createSession({ ...USER, sessionId });
    let shared: number | undefined;
    proxy.judge = ({ from, data, connection }) => {
      if (from === 'client' && data.includes('SKIP LOCKED')) shared ??= connection;
      return connection === shared ? 'swallow' : 'pass';
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
