import type { INestApplicationContext } from '@nestjs/common';
import { CronExpression, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { sessionsFromEnvironment } from '../../src/config/index.js';
import { InMemorySessionStorage, SessionService, SessionsModule } from '../../src/index.js';
import { CLEANUP_NAME } from '../../src/sessions/module/sessions.cleanup.js';
import { until } from '../support/until.js';
import { KEY, startApp } from './support/apps.js';

const ttl = { enabled: true, sessionSeconds: 60 };
const storage = new InMemorySessionStorage();

function registryOf(app: INestApplicationContext): SchedulerRegistry {
  return app.get(SchedulerRegistry, { strict: false });
}

function namesIn(app: INestApplicationContext) {
  const registry = registryOf(app);
  return { cron: [...registry.getCronJobs().keys()], intervals: registry.getIntervals() };
}

class CleanInMemory extends InMemorySessionStorage {
  override readonly cleansUpByItself = true;
}

describe('the cleanup by a cron expression', () => {
  it.each([
    ['takes the place of the default interval', { ttl, cleanup: CronExpression.EVERY_HOUR }, [CLEANUP_NAME], []],
    [
      'stands beside an interval that is given',
      { ttl: { ...ttl, cleanupIntervalSeconds: 60 }, cleanup: { cron: '0 3 * * *' } },
      [CLEANUP_NAME],
      [CLEANUP_NAME],
    ],
    ['does not run where nothing expires', { ttl: { enabled: false }, cleanup: '0 3 * * *' }, [], []],
    ['does not run where the store cleans up', { storage: new CleanInMemory(), ttl, cleanup: '0 3 * * *' }, [], []],
    ['carries the name of its store', { name: 'archive', ttl, cleanup: '0 3 * * *' }, [`${CLEANUP_NAME}:archive`], []],
  ])('%s', async (_title, options, cron, intervals) => {
    const app = await startApp([ScheduleModule.forRoot(), SessionsModule.forRoot({ storage, ...options })]);
    expect(namesIn(app)).toEqual({ cron, intervals });
    await app.close();
    expect(namesIn(app)).toEqual({ cron: [], intervals: [] });
  });

  it('is meant in its time zone', async () => {
    const cleanup = { cron: '30 3 * * *', timeZone: 'Asia/Kolkata' };
    const app = await startApp([ScheduleModule.forRoot(), SessionsModule.forRoot({ storage, ttl, cleanup })]);
    const next = registryOf(app).getCronJob(CLEANUP_NAME).nextDate().toJSDate();
    expect([next.getUTCHours(), next.getUTCMinutes()]).toEqual([22, 0]);
    await app.close();
  });

  it('removes what has expired', async () => {
    let time = 1_000_000;
    const clock = { now: () => time };
    const app = await startApp([
      ScheduleModule.forRoot(),
      SessionsModule.forRoot({ provider: 'memory', clock, ttl, cleanup: CronExpression.EVERY_YEAR }),
    ]);
    const sessions = app.get(SessionService, { strict: false });
    const purge = jest.spyOn(sessions, 'purgeExpired');
    await sessions.createSession(KEY);
    time += 61_000;
    const job = registryOf(app).getCronJob(CLEANUP_NAME);
    expect(job.isActive).toBe(true);
    await job.fireOnTick();
    await until(() => purge.mock.results.length === 1);
    expect(await purge.mock.results[0]?.value).toMatchObject({ sessions: 1 });
    await app.close();
    expect(job.isActive).toBe(false);
  });

  it('works in an app without ScheduleModule', async () => {
    const app = await startApp([SessionsModule.forRoot({ storage, ttl, cleanup: '* * * * * *' })]);
    const sessions = app.get(SessionService, { strict: false });
    const purge = jest.spyOn(sessions, 'purgeExpired');
    await until(() => purge.mock.calls.length > 0);
    await app.close();
  });

  it.each([
    ['61 * * * *', /cleanup .+ is "61 \* \* \* \*", which is no time of a cron job/],
    ['hourly', /"hourly"; it must be true, false, a cron expression/],
    [{ cron: '0 3 * * *', timeZone: 'Mars/Phobos' }, /in the time zone "Mars\/Phobos", which is no time/],
    [{ cron: '0 3 * * *', timezone: 'UTC' }, /must be .+ or { cron, timeZone }/],
    [3_600, /must be true, false, a cron expression/],
    ['', /must be true, false, a cron expression/],
  ])('is refused at start: %j', async (cleanup, message) => {
    const starting = startApp([SessionsModule.forRoot({ storage, ttl, cleanup: cleanup as string })]);
    await expect(starting).rejects.toThrow(message);
  });

  it('is refused where nothing says whether anything expires', async () => {
    const starting = startApp([SessionsModule.forRoot({ storage, cleanup: '0 3 * * *' })]);
    await expect(starting).rejects.toThrow('cleanup has no effect without ttl.enabled; set it to true, or to false.');
  });
});

describe('SESSIONS_CLEANUP', () => {
  const env = { NODE_ENV: 'test', SESSIONS_TTL_ENABLED: 'true' };

  it.each([
    ['0 3 * * *', '0 3 * * *'],
    ['false', false],
    ['TRUE', true],
  ])('%s', (text, cleanup) => {
    expect(sessionsFromEnvironment({ ...env, SESSIONS_CLEANUP: text })).toMatchObject({ cleanup });
  });

  it('sets the time of the job', async () => {
    const options = sessionsFromEnvironment({ ...env, SESSIONS_CLEANUP: '0 3 * * *' });
    const app = await startApp([ScheduleModule.forRoot(), SessionsModule.forRoot(options)]);
    expect(namesIn(app)).toEqual({ cron: [CLEANUP_NAME], intervals: [] });
    await app.close();
  });

  it('with a wrong expression is named', async () => {
    const options = sessionsFromEnvironment({ ...env, SESSIONS_CLEANUP: '0 30 * * *' });
    await expect(startApp([SessionsModule.forRoot(options)])).rejects.toThrow(/SESSIONS_CLEANUP.+"0 30 \* \* \*"/);
    expect(() => sessionsFromEnvironment({ ...env, SESSIONS_CLEANUP: 'hourly' })).toThrow(
      /SESSIONS_CLEANUP is "hourly"/,
    );
  });

  it('has no effect without SESSIONS_TTL_ENABLED', () => {
    expect(() => sessionsFromEnvironment({ NODE_ENV: 'test', SESSIONS_CLEANUP: '0 3 * * *' })).toThrow(
      'SESSIONS_CLEANUP has no effect without SESSIONS_TTL_ENABLED; set it to true, or to false.',
    );
  });
});
