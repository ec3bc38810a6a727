import { HealthIndicatorService } from '@nestjs/terminus';
import { type DoctorHealthOptions, SessionsDoctorHealth } from '../../src/health/index.js';
import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { NO_COUNTS } from '../../src/sessions/domain/stored/counters.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };

describe('SessionsDoctorHealth', () => {
  it('checks in the background, and is down once a check found an error', async () => {
    const storage = new InMemorySessionStorage();
    await new SessionService({ storage }).createSession(KEY);
    const health = new SessionsDoctorHealth(new HealthIndicatorService(), storage);
    const options = { everyMs: 0, pauseMs: 0 };
    expect(await health.isHealthy('store', options)).toEqual({ store: { status: 'up', checked: false } });
    await health.settled();
    expect(await health.isHealthy('store', options)).toMatchObject({ store: { status: 'up', sessions: 1, errors: 0 } });
    await health.settled();

    const counterIncrements = { ...NO_COUNTS, tokens: 3 };
    const payload = JSON.stringify({
      id: 'e',
      invocationId: '',
      author: 'a',
      timestamp: 1,
      actions: { stateDelta: {} },
    });
    const events = [{ id: 'e', timestamp: 1, anchor: false, payload }];
    await storage.append({ key: KEY, events, upserts: [], removals: [], counterIncrements, preconditions: {} });
    await health.isHealthy('store', options);
    await health.settled();
    expect(await health.isHealthy('store', options)).toMatchObject({
      store: { status: 'down', errors: 2, counts: { COUNTERS_DIFFER: 1, RECORD_DIFFERS: 1 } },
    });
    await health.onModuleDestroy();
  });

  it.each([
    [{ everyMS: 1 }, 'everyMS is no option; did you mean everyMs?'],
    [{ everyMs: 'x' }, 'everyMs is "x"; it must be a whole number from 0 on'],
    [{ everyMs: NaN }, 'everyMs is NaN'],
    [{ pauseMs: -1 }, 'pauseMs: must be a whole number from 0 to 60000'],
  ])('refuses %j, by which it would check never or all the time', async (options, problem) => {
    const health = new SessionsDoctorHealth(new HealthIndicatorService(), new InMemorySessionStorage());
    await expect(health.isHealthy('store', options as DoctorHealthOptions)).rejects.toThrow(problem);
  });

  it('stays up if the store cannot be reached, which the other indicator tells', async () => {
    const storage = new InMemorySessionStorage();
    await storage.close();
    const health = new SessionsDoctorHealth(new HealthIndicatorService(), storage);
    await health.isHealthy('store');
    await health.settled();
    expect(await health.isHealthy('store')).toMatchObject({
      store: { status: 'up', checked: false, message: 'The last check did not finish.' },
    });
  });
});
