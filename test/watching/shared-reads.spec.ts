import type { SessionService } from '../../src/index.js';
import { observedDriver } from '../support/observed-driver.js';
import { countTrips } from '../support/round-trips.js';
import { describeSqlServersWithTables } from '../support/sql-bench.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { StatementLog } from '../support/statement-log.js';
import { chosenStoreNames } from '../support/store-names.js';

const KEYS = Array.from({ length: 100 }, (_, index) => ({ appName: 'shop', userId: 'ann', sessionId: `s-${index}` }));
const TICK_MS = 100;

/** Watches all sessions. Each watch waits for the first event. */
async function watchAll(sessions: SessionService): Promise<Promise<IteratorResult<{ readonly id: string }>>[]> {
  await Promise.all(KEYS.map((key) => sessions.createSession(key)));
  const waiting = KEYS.map((key) => sessions.watch({ ...key, partials: true }).next());
  await sessions.whenIdle();
  return waiting;
}

/** Each session gets an event, from another process. */
async function appendToAll(elsewhere: SessionService): Promise<void> {
  await Promise.all(
    KEYS.map(({ sessionId: id, ...owner }) =>
      elsewhere.appendEvent({ session: { id, ...owner }, event: { author: 'user', id: `e-${id}` } }),
    ),
  );
}

const ids = KEYS.map(({ sessionId }) => `e-${sessionId}`);

/** Small ones, and larger ones than are read together with other logs. */
const MANY = Array.from({ length: 40 }, (_, index) => ({
  author: 'user',
  id: `many-${index}`,
  customMetadata: { text: 'x'.repeat(index % 3 === 0 ? 20_000 : 10) },
}));

/** One session gets many events at once, and the others one. */
async function appendMany(elsewhere: SessionService, sessions: SessionService): Promise<void> {
  const [{ sessionId, ...owner }] = KEYS as [(typeof KEYS)[number]];
  const watch = sessions.watch({ ...owner, sessionId });
  const first = watch.next();
  await sessions.whenIdle();
  await elsewhere.appendEvents({ session: { id: sessionId, ...owner }, events: MANY });
  const found = [(await first).value?.id];
  while (found.length < MANY.length) found.push((await watch.next()).value?.id);
  expect(found).toEqual(MANY.map(({ id }) => id));
}

describeSqlServersWithTables(`${KEYS.length} watches of a $name store`, (bench) => {
  it('read what is new together, and miss nothing', async () => {
    const { proxy, behind } = await bench().proxy();
    const sessions = bench().sessions({ ...behind, service: { watchPollMs: TICK_MS } });
    const elsewhere = bench().sessions();
    const waiting = await watchAll(sessions);
    const trips = countTrips(proxy);
    const startedAt = performance.now();
    await appendToAll(elsewhere);
    expect((await Promise.all(waiting)).map(({ value }) => value?.id)).toEqual(ids);
    const ticks = Math.ceil((performance.now() - startedAt) / TICK_MS);
    // The appends come in several transactions, so that there are several announcements. A tick also reads positions.
    expect(trips()).toBeLessThanOrEqual(10 + 2 * ticks);
    await appendMany(elsewhere, sessions);
    await sessions.finish();
  });
});

if (chosenStoreNames().includes('sqlite')) {
  it(`${KEYS.length} watches of a sqlite store read what is new with one statement, and miss nothing`, async () => {
    const file = new SqliteFile();
    try {
      const log = new StatementLog();
      const sessions = await file.sessions({ driver: observedDriver(log), service: { watchPollMs: TICK_MS } });
      const elsewhere = await file.sessions();
      const waiting = await watchAll(sessions);
      log.clear();
      await appendToAll(elsewhere);
      expect((await Promise.all(waiting)).map(({ value }) => value?.id)).toEqual(ids);
      // A tick in the middle of the appends finds only some of them.
      expect(log.statements().filter(({ text }) => text.includes('session_events')).length).toBeLessThanOrEqual(3);
      await appendMany(elsewhere, sessions);
      await sessions.finish();
      await elsewhere.finish();
    } finally {
      await file.remove();
    }
  });
}
