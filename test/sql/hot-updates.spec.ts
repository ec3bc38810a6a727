import type { SessionService } from '../../src/index.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { describeSqlServers } from '../support/sql-bench.js';
import { until } from '../support/until.js';

const USER = { appName: 'shop', userId: 'ann' };
const APPENDS = 200;
/** A minute has 60 appends. */
const MOST = APPENDS / 60 + 2;
const ttl = { enabled: true, sessionSeconds: 86_400 };

async function appendAll(sessions: SessionService, sessionId: string, clock: ManualClock): Promise<void> {
  await sessions.createSession({ ...USER, sessionId });
  for (let number = 0; number < APPENDS; number++) {
    clock.advance(1_000);
    await sessions.appendEvent({ session: { ...USER, id: sessionId }, event: { author: 'user' } });
  }
  await sessions.close();
}

describeSqlServers(
  'Appends in $name',
  (bench) => {
    it('change no index of the sessions, but for one a minute', async () => {
      const clock = new ManualClock(1_800_000_000_000);
      const raw = await bench().connect();
      const counted = async (column: string): Promise<number> => {
        const [row] = await raw.query(
          `SELECT ${column} AS n FROM pg_stat_user_tables WHERE relname = 'agent_sessions'`,
        );
        return Number(row?.n);
      };
      // Heap-only tuples: no index gets an entry for the new version of the row.
      const othersAfter = async (round: number): Promise<number> => {
        await appendAll(bench().sessions({ clock, service: { clock, ttl } }), `s-${round}`, clock);
        // A connection reports what it did a little after its end.
        await until(async () => (await counted('n_tup_upd')) >= round * APPENDS);
        return (await counted('n_tup_upd')) - (await counted('n_tup_hot_upd'));
      };
      // A row that has no room left on its page changes all indexes: while somebody else reads this database, old versions cannot be removed.
      const others: number[] = [];
      for (let before = 0; others.every((count) => count > MOST) && others.length < 4;) {
        const all = await othersAfter(others.length + 1);
        others.push(all - before);
        before = all;
      }
      expect(Math.min(...others)).toBeLessThanOrEqual(MOST);
    });
  },
  ['postgres'],
);
