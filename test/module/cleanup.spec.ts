import { Injectable } from '@nestjs/common';
import { Interval, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import {
  InMemorySessionStorage,
  type PurgeCounts,
  SessionService,
  SessionsCleanup,
  SessionsModule,
  StoreUnavailableError,
  encryptedStorage,
} from '../../src/index.js';
import { CLEANUP_NAME } from '../../src/sessions/module/sessions.cleanup.js';
import { KEY_A, KEY_B } from '../encryption/support.js';
import { KEY, startApp } from './support/apps.js';
import { KeptLogger } from './support/kept-logger.js';

const HOUR_MS = 3_600_000;
const ttl = { enabled: true, sessionSeconds: 60 };

/** A clock that tests move. */
class FakeClock {
  time = 1_000_000;
  now = (): number => this.time;
}

/** The first batch of a purge waits until `unblock` is called. */
class BlockedStorage extends InMemorySessionStorage {
  batches = 0;
  unblock: () => void = () => undefined;
  readonly #unblocked = new Promise<void>((resolve) => (this.unblock = resolve));
  #begin: () => void = () => undefined;
  readonly started = new Promise<void>((resolve) => (this.#begin = resolve));

  override async purgeExpired(): Promise<PurgeCounts> {
    this.batches += 1;
    this.#begin();
    await this.#unblocked;
    // Expired sessions remain after each batch.
    return { sessions: 500, userStates: 0, appStates: 0 };
  }
}

function intervalsOf(app: { get(token: unknown, options: object): unknown }): string[] {
  return (app.get(SchedulerRegistry, { strict: false }) as SchedulerRegistry).getIntervals();
}

describe('the schedule of the cleanup', () => {
  class CleanInMemory extends InMemorySessionStorage {
    override readonly cleansUpByItself = true;
  }
  const storage = new InMemorySessionStorage();

  it.each([
    ['contains the cleanup if sessions expire', { storage, ttl }, [CLEANUP_NAME]],
    ['is empty if nothing expires', { storage }, []],
    ['is empty if the interval is 0', { storage, ttl: { ...ttl, cleanupIntervalSeconds: 0 } }, []],
    ['is empty if the store removes expired sessions itself', { storage: new CleanInMemory(), ttl }, []],
    ['is empty if the cleanup is off', { storage, ttl, cleanup: false }, []],
  ])('%s', async (_title, options, expected) => {
    const app = await startApp([ScheduleModule.forRoot(), SessionsModule.forRoot(options)]);
    expect(intervalsOf(app)).toEqual(expected);
    await app.close();
    expect(intervalsOf(app)).toEqual([]);
  });

  it('contains one cleanup for each store of an app, by its name', async () => {
    const both = [{}, { name: 'archive' }].map((named) =>
      SessionsModule.forRoot({ ...named, provider: 'memory', ttl }),
    );
    const app = await startApp([ScheduleModule.forRoot(), ...both]);
    expect(intervalsOf(app)).toEqual([CLEANUP_NAME, `${CLEANUP_NAME}:archive`]);
    await app.close();
    expect(intervalsOf(app)).toEqual([]);
  });

  it('runs the interval handlers of the app only once', async () => {
    @Injectable()
    class Report {
      @Interval('report', HOUR_MS)
      write(): void {}
    }
    const scheduled = jest.spyOn(globalThis, 'setInterval');
    const app = await startApp([ScheduleModule.forRoot(), SessionsModule.forRoot({ provider: 'memory', ttl })], {
      providers: [Report],
    });
    expect(intervalsOf(app).toSorted()).toEqual([CLEANUP_NAME, 'report']);
    expect(scheduled.mock.calls.filter(([, milliseconds]) => milliseconds === HOUR_MS)).toHaveLength(2);
    await app.close();
    scheduled.mockRestore();
  });

  it('works in an app without ScheduleModule', async () => {
    const clock = new FakeClock();
    const app = await startApp([
      SessionsModule.forRoot({ provider: 'memory', clock, ttl: { ...ttl, cleanupIntervalSeconds: 0.01 } }),
    ]);
    const sessions = app.get(SessionService, { strict: false });
    const purged = new Promise<PurgeCounts>((resolve) => {
      const purge = sessions.purgeExpired.bind(sessions);
      jest.spyOn(sessions, 'purgeExpired').mockImplementation(async (options) => {
        const counts = await purge(options);
        if (counts.sessions > 0) resolve(counts);
        return counts;
      });
    });
    await sessions.createSession(KEY);
    clock.time += 61_000;
    expect(await purged).toEqual({ sessions: 1, userStates: 0, appStates: 0 });
    await app.close();
  });
});

describe('a cleanup run', () => {
  it('removes and logs what has expired, and keeps the rest', async () => {
    const clock = new FakeClock();
    const logger = new KeptLogger();
    const lifetimes = { ...ttl, userStateSeconds: 30, appStateSeconds: 10 };
    const app = await startApp([SessionsModule.forRoot({ provider: 'memory', clock, ttl: lifetimes })], { logger });
    const sessions = app.get(SessionService, { strict: false });
    const cleanup = app.get(SessionsCleanup, { strict: false });
    await sessions.createSession({ ...KEY, state: { 'user:name': 'Ann', 'app:open': true } });
    expect(await cleanup.run()).toEqual({ sessions: 0, userStates: 0, appStates: 0 });
    clock.time += 40_000;
    await sessions.createSession({ ...KEY, sessionId: 'younger' });
    expect(await cleanup.run()).toEqual({ sessions: 0, userStates: 1, appStates: 1 });
    clock.time += 20_000;
    expect(await cleanup.run()).toEqual({ sessions: 1, userStates: 0, appStates: 0 });
    expect(await sessions.getSession({ ...KEY, sessionId: 'younger' })).toBeDefined();
    expect(logger.matching(/Removed what expired/)).toEqual([
      expect.stringMatching(/: 0 sessions, 1 user states, 1 app states in \d+ ms$/),
      expect.stringMatching(/: 1 sessions, 0 user states, 0 app states in \d+ ms$/),
    ]);
    await app.close();
  });

  it('logs once that a policy leaves out what cannot be decrypted, and finishes', async () => {
    const clock = new FakeClock();
    const logger = new KeptLogger();
    const storage = new InMemorySessionStorage({ clock });
    const lost = new SessionService({ storage: encryptedStorage(storage, { keys: KEY_B }, clock), clock });
    for (const sessionId of ['a', 'b']) await lost.createSession({ ...KEY, sessionId, metadata: { title: 'Shoes' } });
    const retention = { rules: [{ keep: '1h' }, { keep: '2h' }] };
    const app = await startApp([SessionsModule.forRoot({ storage, clock, retention, encryption: { keys: KEY_A } })], {
      logger,
    });
    clock.time += 2 * HOUR_MS;
    expect(await app.get(SessionsCleanup, { strict: false }).run()).toBeDefined();
    expect(logger.matching(/retention leaves out what it cannot read/)).toHaveLength(1);
    await app.close();
  });

  it('applies a policy without any ttl, and registers its hold', async () => {
    const clock = new FakeClock();
    const logger = new KeptLogger();
    const retention = { rules: [{ keep: '1h' }], hold: { labels: { hold: 'yes' } } };
    const module = SessionsModule.forRoot({ storage: new InMemorySessionStorage({ clock }), clock, retention });
    const app = await startApp([module], { logger });
    const sessions = app.get(SessionService, { strict: false });
    await sessions.createSession({ ...KEY, sessionId: 'old' });
    await sessions.createSession({ ...KEY, sessionId: 'held', metadata: { labels: { hold: 'yes' } } });
    clock.time += HOUR_MS;
    const cleanup = app.get(SessionsCleanup, { strict: false });
    expect(cleanup.intervalMs).toBe(HOUR_MS);
    await cleanup.run();
    expect((await sessions.listSessions(KEY)).sessions.map(({ id }) => id)).toEqual(['held']);
    expect(logger.matching(/kept long enough/)).toHaveLength(1);
    await expect(sessions.deleteSession({ ...KEY, sessionId: 'held' })).rejects.toThrow('A hold keeps');
    await app.close();
  });

  it('happens in one of several instances at a time', async () => {
    const storage = new BlockedStorage();
    const make = () => startApp([SessionsModule.forRoot({ storage, ttl })]);
    const apps = [await make(), await make(), await make()];
    const [first, ...others] = apps.map((app) => app.get(SessionsCleanup, { strict: false }));
    const running = first?.run();
    await storage.started;
    expect(await first?.run()).toBeUndefined();
    expect(await Promise.all(others.map((cleanup) => cleanup.run()))).toEqual([undefined, undefined]);
    storage.unblock();
    await Promise.all([running, ...apps.map((app) => app.close())]);
  });

  it('logs an error, and the next run works', async () => {
    const storage = new InMemorySessionStorage();
    const logger = new KeptLogger();
    const app = await startApp([SessionsModule.forRoot({ storage, ttl })], { logger });
    const cleanup = app.get(SessionsCleanup, { strict: false });
    const failing = jest
      .spyOn(storage, 'purgeExpired')
      .mockRejectedValueOnce(new StoreUnavailableError('The disk is full.', false));
    expect(await cleanup.run()).toBeUndefined();
    expect(logger.matching(/^warn: /)).toEqual([expect.stringContaining('did not finish: The disk is full.')]);
    expect(await cleanup.run()).toEqual({ sessions: 0, userStates: 0, appStates: 0 });
    failing.mockRestore();
    await app.close();
  });

  it('stops at a shutdown after the current batch, and the shutdown waits for it', async () => {
    const storage = new BlockedStorage();
    const app = await startApp([SessionsModule.forRoot({ storage, ttl })]);
    const cleanup = app.get(SessionsCleanup, { strict: false });
    const done: string[] = [];
    const stop = cleanup.onModuleDestroy.bind(cleanup);
    jest.spyOn(cleanup, 'onModuleDestroy').mockImplementation(() => {
      const stopping = stop();
      storage.unblock();
      return stopping;
    });
    const running = cleanup.run().then(() => done.push('cleanup'));
    await storage.started;
    const closing = app.close().then(() => done.push('app'));
    await Promise.all([running, closing]);
    expect(done).toEqual(['cleanup', 'app']);
    expect(storage.batches).toBe(1);
    expect(await cleanup.run()).toBeUndefined();
    expect(storage.batches).toBe(1);
  });
});
