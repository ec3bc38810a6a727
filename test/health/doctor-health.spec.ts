import { HealthIndicatorService } from '@nestjs/terminus';
import { SessionsDoctorHealth } from '../../src/health/index.js';
import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { NO_COUNTS } from '../../src/sessions/domain/counters.js';

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
