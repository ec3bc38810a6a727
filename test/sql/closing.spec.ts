import type { SessionService } from '../../src/index.js';
import { describeSqlServersWithTables } from '../support/sql-bench.js';
import type { TcpProxy } from '../support/tcp-proxy.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
/** Enough for successful calls on a busy machine. */
const LIMIT_MS = 3_000;
/** For timers on a busy machine. */
const SLACK_MS = 10_000;

describeSqlServersWithTables('A $name store', (bench) => {
  let proxy: TcpProxy;
  let sessions: SessionService;

  beforeEach(async () => {
    const made = await bench().proxy();
    proxy = made.proxy;
    sessions = bench().sessions({ ...made.behind, timeLimitMs: LIMIT_MS });
    // Creating the tables takes longer than the time limit.
    await bench().storage().open();
    await sessions.createSession(KEY);
  });

  it('closes within the time limit if the server does not respond', async () => {
    await Promise.all(Array.from({ length: 3 }, () => sessions.getSession(KEY)));
    proxy.mode = 'black hole';
    const start = performance.now();
    await sessions.close();
    expect(performance.now() - start).toBeLessThan(LIMIT_MS + SLACK_MS);
  });

  it('closes without an error while connections are opening', async () => {
    const { proxy: slow, behind } = await bench().proxy();
    const driverOptions = { connectTimeout: 2 * LIMIT_MS };
    const storage = bench().storage({ ...behind, timeLimitMs: LIMIT_MS, driverOptions });
    await storage.open();
    slow.filter = ({ from }) => (from === 'server' ? 'drop' : 'pass');
    // Depending on load, either the store's or the driver's time limit ends first.
    const calls = [1, 2, 3].map(() =>
      expect(storage.read({ key: KEY })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: false }),
    );
    await storage.close();
    await Promise.all(calls);
  });
});
