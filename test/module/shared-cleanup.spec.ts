import { once } from 'node:events';
import type { INestApplicationContext } from '@nestjs/common';
import { type PurgeCounts, SessionService, SessionsCleanup, SessionsModule } from '../../src/index.js';
import type { Clock } from '../../src/sessions/domain/process/clock.js';
import type { StoreSettings } from '../../src/config/store-settings.js';
import { createMariaDbDatabase, dropMariaDbDatabase } from '../support/mariadb-store.js';
import { crowd } from '../support/rounds.js';
import { chosenStoreNames } from '../support/store-names.js';
import { startApp } from './support/apps.js';
import { newDatabaseName } from './support/database-name.js';
import { type Place, openPlace } from './support/places.js';

const EXPIRED = crowd(20_000);
const AT_ONCE = 500;
const EXPIRED_AT = 1_000_000;
const NOW = EXPIRED_AT + 3_600_000;
const ttl = { enabled: true, sessionSeconds: 60, cleanupIntervalSeconds: 0.02 };

/** A store full of sessions that expired long ago by the clock of the apps. */
interface ExpiredPlace {
  readonly settings: StoreSettings;
  remove(): Promise<void>;
}

const makers = { redis: expiredRedis, mariadb: expiredMariaDb };
const names = (['redis', 'mariadb'] as const).filter((name) => chosenStoreNames().includes(name));

for (const name of names) {
  describe(`two apps that clean up the same ${name} store`, () => {
    let place: ExpiredPlace;
    const apps: INestApplicationContext[] = [];

    beforeAll(async () => {
      place = await makers[name]();
    });
    afterEach(async () => {
      await Promise.all(apps.splice(0).map((app) => app.close()));
    });
    afterAll(() => place.remove());

    it('remove each session once, even if one app is closed during its run, and lose no append', async () => {
      const counts: number[] = [];
      const clock = { now: () => NOW };
      const runs: Promise<unknown>[] = [];
      const total = (): number => counts.reduce((sum, count) => sum + count, 0);
      const emptied = new AbortController();
      const isEmpty = once(emptied.signal, 'abort');
      for (let number = 0; number < 2; number++) {
        const app = await startApp([SessionsModule.forRoot({ ...place.settings, clock, ttl })]);
        apps.push(app);
        watchRuns(app, runs, (count) => {
          counts.push(count);
          if (total() >= EXPIRED) emptied.abort();
        });
      }
      const appended = appendMeanwhile(apps[1], emptied.signal);
      // Close the first app as soon as its cleanup has started.
      await Promise.race(runs.length > 0 ? runs : [firstBatchOf(apps[0])]);
      await apps.shift()?.close();
      await isEmpty;
      expect(await appended).toBeGreaterThan(0);
      const last = await apps[0]?.get(SessionService, { strict: false }).purgeExpired();
      expect({ total: total(), last: last?.sessions }).toEqual({ total: EXPIRED, last: 0 });
    });
  });
}

if (names.length === 0) {
  it('have no shared store to clean up in this run', () => expect(names).toEqual([]));
}

/** Reports how many sessions each scheduled run has removed. */
function watchRuns(app: INestApplicationContext, runs: Promise<unknown>[], onCount: (count: number) => void): void {
  const cleanup = app.get(SessionsCleanup, { strict: false });
  const run = cleanup.run.bind(cleanup);
  jest.spyOn(cleanup, 'run').mockImplementation(() => {
    const running = run();
    runs.push(running);
    return running.then((counts) => {
      if (counts) onCount(counts.sessions);
      return counts;
    });
  });
}

/** Resolves when the app starts to purge. */
function firstBatchOf(app: INestApplicationContext | undefined): Promise<void> {
  const sessions = app?.get(SessionService, { strict: false });
  return new Promise((resolve) => {
    const purge = sessions?.purgeExpired.bind(sessions);
    if (!sessions || !purge) return;
    jest.spyOn(sessions, 'purgeExpired').mockImplementation((options): Promise<PurgeCounts> => {
      resolve();
      return purge(options);
    });
  });
}

/** Appends to a session until everything is removed, and checks that no event is lost. */
async function appendMeanwhile(app: INestApplicationContext | undefined, end: AbortSignal): Promise<number> {
  if (!app) return 0;
  const sessions = app.get(SessionService, { strict: false });
  const session = await sessions.createSession({ appName: 'shop', userId: 'live', sessionId: 'live' });
  let appended = 0;
  do {
    await sessions.appendEvent({ session, event: { author: 'agent', actions: { stateDelta: { appended } } } });
    appended += 1;
  } while (!end.aborted);
  const read = await sessions.getSession({ appName: 'shop', userId: 'live', sessionId: 'live' });
  expect(read?.events.map(({ seq }) => seq)).toEqual(Array.from({ length: appended }, (_, index) => index + 1));
  return appended;
}

async function expiredRedis(): Promise<ExpiredPlace> {
  const place: Place = await openPlace('redis');
  const past: Clock = { now: () => EXPIRED_AT };
  const app = await startApp([SessionsModule.forRoot({ ...place.settings, clock: past, ttl, cleanup: false })]);
  const sessions = app.get(SessionService, { strict: false });
  for (let from = 0; from < EXPIRED; from += AT_ONCE) {
    const ids = Array.from({ length: AT_ONCE }, (_, index) => from + index);
    await Promise.all(ids.map((id) => sessions.createSession({ appName: 'shop', userId: `u-${id % 1_000}` })));
  }
  await app.close();
  return place;
}

async function expiredMariaDb(): Promise<ExpiredPlace> {
  const database = await createMariaDbDatabase(newDatabaseName());
  const settings: StoreSettings = { provider: 'typeorm', database: database.storageOptions };
  const past: Clock = { now: () => EXPIRED_AT };
  const app = await startApp([SessionsModule.forRoot({ ...settings, clock: past, ttl, cleanup: false })]);
  await app.get(SessionService, { strict: false }).createSession({ appName: 'shop', userId: 'u-0', sessionId: 's-0' });
  await app.close();
  const { connection } = database;
  const [columns] = await connection.query('SHOW COLUMNS FROM agent_sessions');
  const others = (columns as { Field: string }[])
    .map(({ Field }) => Field)
    .filter((name) => !/^(pk|session_id)$/.test(name));
  // Copy the existing row under other ids.
  const numbers = 'SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n AS n FROM';
  const digits = ['a', 'b', 'c', 'd', 'e'].map((name) => `(${DIGITS}) ${name}`).join(' CROSS JOIN ');
  await connection.query(
    `INSERT INTO agent_sessions (session_id, ${others.join(', ')})
     SELECT CONCAT('s-', more.n), ${others.join(', ')} FROM agent_sessions
     CROSS JOIN (${numbers} ${digits}) more WHERE more.n BETWEEN 1 AND ${EXPIRED - 1}`,
  );
  return { settings, remove: () => dropMariaDbDatabase(database) };
}

const DIGITS = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS n`).join(' UNION ALL ');
