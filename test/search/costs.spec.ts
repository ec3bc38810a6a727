import { SessionService } from '../../src/index.js';
import { SessionSearch } from '../../src/search/index.js';
import { fillLog } from '../support/filled-sqlite.js';
import { observedDriver } from '../support/observed-driver.js';
import { countTrips } from '../support/round-trips.js';
import { describeSqlServers } from '../support/sql-bench.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { StatementLog } from '../support/statement-log.js';
import { KEY, SESSION } from '../counted/operations.js';
import { untilIndexed, USER } from './support.js';

const SAID = { author: 'user', content: { role: 'user' as const, parts: [{ text: 'my order' }] } };

describe('An append to sessions that are searched', () => {
  it('needs the same statements in SQLite as without a search', async () => {
    const file = new SqliteFile();
    try {
      const log = new StatementLog();
      const sessions = await file.sessions({ driver: observedDriver(log) });
      await sessions.createSession(KEY);
      fillLog(file.connection(), 100, () => ({ author: 'agent' }));
      const counts: unknown[] = [];
      const count = async (): Promise<void> => {
        // The first one marks the session for consumers.
        for (let number = 0; number < 2; number++) await sessions.appendEvent({ session: SESSION, event: SAID });
        log.clear();
        await sessions.appendEvent({ session: SESSION, event: SAID });
        counts.push(log.counts());
      };
      await count();
      const search = new SessionSearch({ sessions, pollMs: 10 });
      await search.start();
      await untilIndexed(search);
      // Nothing else runs meanwhile.
      await search.stop();
      await count();
      expect(counts[1]).toEqual(counts[0]);
      expect(counts[0]).toEqual({ transactions: 1, reads: 0, writes: 2, rows: 0 });
    } finally {
      await file.remove();
    }
  });
});

describeSqlServers('A search in $name', (bench) => {
  it('needs one round trip, for any words one more, and so does an event that is indexed', async () => {
    const { proxy, behind } = await bench().proxy();
    const writer = bench().sessions();
    for (let number = 0; number < 60; number++) {
      const session = await writer.getOrCreateSession({ ...USER, sessionId: `s-${number % 3}` });
      await writer.appendEvent({ session, event: SAID });
    }
    const filling = new SessionSearch({ sessions: writer, pollMs: 10 });
    await filling.start();
    await untilIndexed(filling);
    await filling.stop();
    await writer.whenIdle();
    const storage = bench().storage(behind);
    const search = new SessionSearch({ sessions: new SessionService({ storage }) });
    await search.searchEvents({ ...USER, text: 'order' });
    const trips = countTrips(proxy);
    const counted = async (work: () => Promise<unknown>): Promise<number> => {
      const before = trips();
      await work();
      return trips() - before;
    };
    const text = 'my order';
    expect(await counted(() => search.searchEvents({ ...USER, text, limit: 50 }))).toBe(1);
    const first = await search.searchEvents({ ...USER, text, match: 'any', limit: 50 });
    expect(await counted(() => search.searchEvents({ ...USER, text, match: 'any', limit: 50 }))).toBe(2);
    const { nextCursor: cursor } = first;
    expect(await counted(() => search.searchEvents({ ...USER, text, match: 'any', limit: 50, cursor }))).toBe(1);
    const { incarnation = '' } = (await storage.read({ key: { ...USER, sessionId: 's-1' } }))?.record ?? {};
    const entry = { key: { ...USER, sessionId: 's-1' }, incarnation, author: 'user', at: 1, text, terms: ['qorder'] };
    const entries = [1, 2, 3].map((seq) => ({ ...entry, seq }));
    const trip = await counted(() => storage.search.add(entries, true));
    expect(trip).toBeLessThanOrEqual(2);
  });

  it('reads no words of others', async () => {
    const sessions = bench().sessions();
    for (const userId of ['ann', 'bob']) {
      const session = await sessions.createSession({ appName: 'shop', userId, sessionId: 's-1' });
      await sessions.appendEvent({ session, event: SAID });
    }
    const search = new SessionSearch({ sessions, pollMs: 10 });
    await search.start();
    await untilIndexed(search);
    const raw = await bench().connect();
    const rows = await raw.query('SELECT words FROM agent_search');
    const [ofAnn = [], ofBob = []] = rows.map(
      ({ words }): readonly string[] => String(words).match(/[a-z0-9]+/g) ?? [],
    );
    expect(ofAnn.length).toBeGreaterThan(1);
    expect(ofAnn.filter((word) => ofBob.includes(word))).toEqual([]);
    await search.stop();
    await sessions.whenIdle();
  });
});
