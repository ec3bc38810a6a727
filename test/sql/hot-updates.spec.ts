import { ManualClock } from '../../src/testing/manual-clock.js';
import { describeSqlServers } from '../support/sql-bench.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const APPENDS = 200;

describeSqlServers(
  'Appends in $name',
  (bench) => {
    it('change no index of the sessions, but for one a minute', async () => {
      const clock = new ManualClock(1_800_000_000_000);
      const ttl = { enabled: true, sessionSeconds: 86_400 };
      const sessions = bench().sessions({ clock, service: { clock, ttl } });
      await sessions.createSession(KEY);
      for (let number = 0; number < APPENDS; number++) {
        clock.advance(1_000);
        await sessions.appendEvent({ session: SESSION, event: { author: 'user' } });
      }
      await sessions.close();
      const raw = await bench().connect();
      const counted = async (column: string): Promise<number> => {
        const [row] = await raw.query(
          `SELECT ${column} AS n FROM pg_stat_user_tables WHERE relname = 'agent_sessions'`,
        );
        return Number(row?.n);
      };
      // A connection reports what it did a little after its end.
      await until(async () => (await counted('n_tup_upd')) >= APPENDS);
      // Heap-only tuples: no index gets an entry for the new version of the row.
      expect((await counted('n_tup_upd')) - (await counted('n_tup_hot_upd'))).toBeLessThanOrEqual(APPENDS / 60 + 2);
    });
  },
  ['postgres'],
);
