import type { SessionService } from '../../src/index.js';
import { isCommitRequest } from '../support/commit-faults.js';
import { changedText } from '../support/record-lines.js';
import { observedDriver } from '../support/observed-driver.js';
import { describeSqlServersWithTables } from '../support/sql-bench.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { StatementLog } from '../support/statement-log.js';

const APPENDS = 64;
/** The number of batches if the first ones begin before the last appends arrive. */
const FEW = 4;

const keyOf = (index: number) => ({ appName: 'shop', userId: `u-${index % 3}`, sessionId: `s-${index}` });
const sessionOf = (index: number) => ({ appName: 'shop', userId: `u-${index % 3}`, id: `s-${index}` });
const stateDelta = { k: 1, 'user:k': 1, 'app:k': 1 };

const eventOf = (index: number, place: number) => ({
  id: `e-${place}`,
  author: index % 3 === 0 ? 'agent' : 'user',
  timestamp: index,
  content: { parts: [{ text: 'x'.repeat(index) }] },
  usageMetadata: { totalTokenCount: 1_000 * index + place },
  ...(place === 2 && index % 8 === 0 && { actions: { rewind: { toSeq: 0 } } }),
});

interface Counted {
  readonly sessions: SessionService;
  /** The number of transactions since the last call. */
  transactions(): number;
}

/** @param open opens a store with or without shared transactions */
function describeCoalescing(open: (coalesceAppends: boolean) => Promise<Counted>): void {
  it.each([
    { coalesceAppends: true, most: FEW },
    { coalesceAppends: false, most: APPENDS },
  ])(`${APPENDS} take at most $most transactions`, async ({ coalesceAppends, most }) => {
    const { sessions, transactions } = await open(coalesceAppends);
    await createAll(sessions);
    transactions();
    const appends = Array.from({ length: APPENDS }, (_, index) =>
      sessions.append({ session: sessionOf(index), event: { id: 'e', author: 'user', actions: { stateDelta } } }),
    );
    for (const outcome of await Promise.all(appends)) {
      expect(outcome).toMatchObject({ duplicate: false, event: { seq: 1 } });
    }
    const taken = transactions();
    if (coalesceAppends) expect(taken).toBeLessThanOrEqual(most);
    else expect(taken).toBe(most);
  });

  it('refused appends do not affect the others', async () => {
    const { sessions } = await open(true);
    await createAll(sessions);
    await sessions.append({ session: sessionOf(5), event: { id: 'e', author: 'user', content: { parts: [] } } });
    await sessions.append({ session: sessionOf(6), event: { id: 'first', author: 'user' } });
    await sessions.deleteSession(keyOf(7));
    const same = { id: 'e', author: 'user', actions: { stateDelta } };
    await sessions.append({ session: sessionOf(8), event: same });
    const outcomes = await Promise.allSettled(
      Array.from({ length: APPENDS }, (_, index) =>
        sessions.append({
          session: sessionOf(index),
          event: same,
          ...(index === 6 && { expectedVersion: 0 }),
        }),
      ),
    );
    expect(outcomes[5]).toMatchObject({ status: 'rejected', reason: { code: 'EVENT_CONFLICT' } });
    expect(outcomes[6]).toMatchObject({ status: 'rejected', reason: { code: 'STALE_SESSION', currentVersion: 1 } });
    expect(outcomes[7]).toMatchObject({ status: 'rejected', reason: { code: 'SESSION_NOT_FOUND' } });
    expect(outcomes[8]).toMatchObject({ status: 'fulfilled', value: { duplicate: true, event: { seq: 1 } } });
    for (const [index, outcome] of outcomes.entries()) {
      if (index >= 5 && index <= 8) continue;
      expect(outcome).toMatchObject({ status: 'fulfilled', value: { duplicate: false, event: { seq: 1 } } });
      expect((await sessions.getSession(keyOf(index)))?.state.toRecord()).toEqual(stateDelta);
    }
    expect((await sessions.getSession(keyOf(5)))?.events).toHaveLength(1);
    expect((await sessions.getSession(keyOf(6)))?.events).toHaveLength(1);
  });

  it('appends to one session get consecutive numbers', async () => {
    const { sessions } = await open(true);
    await createAll(sessions);
    const outcomes = await Promise.all(
      Array.from({ length: APPENDS }, (_, index) =>
        sessions.append({
          session: sessionOf(index % 2),
          event: { id: `e-${index >> 2}`, author: 'user', actions: { stateDelta: { last: index >> 2 } } },
        }),
      ),
    );
    expect(outcomes.filter(({ duplicate }) => duplicate)).toHaveLength(APPENDS / 2);
    for (const index of [0, 1]) {
      const { events } = await sessions.listEvents(keyOf(index));
      expect(events.map(({ seq, id }) => `${id} at ${seq}`)).toEqual(
        Array.from({ length: APPENDS / 4 }, (_, place) => `e-${place} at ${place + 1}`),
      );
      expect((await sessions.getSession(keyOf(index)))?.state.toRecord()).toMatchObject({ last: APPENDS / 4 - 1 });
    }
  });
}

async function createAll(sessions: SessionService): Promise<void> {
  for (let index = 0; index < APPENDS; index++) await sessions.createSession(keyOf(index));
}

describeSqlServersWithTables('Concurrent appends in a $name store:', (bench) => {
  describeCoalescing(async (coalesceAppends) => {
    const { proxy, behind } = await bench().proxy();
    let commits = 0;
    proxy.filter = (piece) => {
      if (isCommitRequest(piece)) commits += 1;
      return 'pass';
    };
    return {
      sessions: bench().sessions({ ...behind, coalesceAppends }),
      transactions() {
        const taken = commits;
        commits = 0;
        return taken;
      },
    };
  });

  it('change the sessions like appends one by one', async () => {
    const sessions = bench().sessions();
    const ids = Array.from({ length: 24 }, (_, index) => index);
    const append = (userId: string, index: number, place: number) =>
      sessions.append({
        session: { appName: 'shop', userId, id: `s-${index}` },
        event: eventOf(index, place),
      });
    for (const index of ids) {
      for (const userId of ['alone', 'together']) {
        await sessions.createSession({ appName: 'shop', userId, sessionId: `s-${index}` });
        await append(userId, index, 1);
      }
    }
    for (const index of ids) await append('alone', index, 2);
    await Promise.all(ids.map((index) => append('together', index, 2)));
    const raw = await bench().connect();
    const [alone, together] = await Promise.all(
      ['alone', 'together'].map((userId) =>
        raw.query(`
          SELECT session_id, last_seq, record, state, CASE WHEN last_update_time > create_time THEN 1 ELSE 0 END AS is_updated
          FROM agent_sessions WHERE user_id = '${userId}' ORDER BY pk`),
      ),
    ).then((found) => found.map((rows) => rows.map((row) => ({ ...row, record: changedText(row.record, TIMES) }))));
    expect(together).toHaveLength(ids.length);
    expect(together).toEqual(alone);
  });
});

/** What differs between two sessions with the same events. */
const TIMES = { created: 0, updated: 0, water: 0, waiting: 0, stamp: 0 };

describe('Concurrent appends in a SQLite store:', () => {
  let file: SqliteFile;

  beforeEach(() => {
    file = new SqliteFile();
  });

  afterEach(() => file.remove());

  describeCoalescing(async (coalesceAppends) => {
    const log = new StatementLog();
    return {
      sessions: await file.sessions({ driver: observedDriver(log), coalesceAppends }),
      transactions() {
        const { transactions } = log.counts();
        log.clear();
        return transactions;
      },
    };
  });
});
