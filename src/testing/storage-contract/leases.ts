import { topic } from '../contract-runner.js';
import { type StorageFixture, acquired, leaseOf, together } from './support.js';

export const leases = topic<StorageFixture>('leases', (test) => {
  test('a lease has its name, its holder and its expiry', async ({ storage, clock }) => {
    expect(await storage.leases.acquire({ name: 'cleanup', holder: 'one', ttlMs: 5_000 })).toEqual({
      name: 'cleanup',
      holder: 'one',
      token: expect.any(Number),
      expiresAt: clock.now() + 5_000,
    });
  });

  test('a held lease is refused to everyone, including its holder', async ({ storage }) => {
    await acquired(storage, leaseOf({ holder: 'one' }));
    expect(await storage.leases.acquire(leaseOf({ holder: 'two' }))).toBeUndefined();
    expect(await storage.leases.acquire(leaseOf({ holder: 'one' }))).toBeUndefined();
  });

  test('a refused request does not change the lease', async ({ storage, clock }) => {
    const held = await acquired(storage, leaseOf({ ttlMs: 10_000 }));
    clock.advance(5_000);
    await storage.leases.acquire(leaseOf({ holder: 'two', ttlMs: 60_000 }));
    expect(await storage.leases.renew(held, 5_000)).toEqual(held);
    clock.advance(5_000);
    await acquired(storage, leaseOf({ holder: 'two' }));
  });

  test('of 50 concurrent requests, one gets the lease', async ({ storage }) => {
    const answers = await together(50, (index) => storage.leases.acquire(leaseOf({ holder: `holder ${index}` })));
    const got = answers.filter((lease) => lease !== undefined);
    expect(got).toHaveLength(1);
    for (const lease of got) expect(await storage.leases.renew(lease, 10_000)).toEqual(lease);
  });

  test('of 50 concurrent requests for an expired lease, one gets it', async ({ storage, clock }) => {
    const before = await acquired(storage, leaseOf({ ttlMs: 1_000 }));
    clock.advance(1_000);
    const answers = await together(50, (index) => storage.leases.acquire(leaseOf({ holder: `holder ${index}` })));
    const got = answers.filter((lease) => lease !== undefined);
    expect(got).toHaveLength(1);
    expect(got[0]?.token).toBeGreaterThan(before.token);
  });

  test('a lease is free from the moment it expires', async ({ storage, clock }) => {
    await acquired(storage, leaseOf({ ttlMs: 10_000 }));
    clock.advance(9_999);
    expect(await storage.leases.acquire(leaseOf())).toBeUndefined();
    clock.advance(1);
    expect(await storage.leases.acquire(leaseOf())).toBeDefined();
  });

  test('a released lease is free immediately', async ({ storage }) => {
    const held = await acquired(storage, leaseOf({ holder: 'one' }));
    await storage.leases.release(held);
    expect(await storage.leases.acquire(leaseOf({ holder: 'two' }))).toMatchObject({ holder: 'two' });
  });

  test('a purge keeps held leases, and does not count leases', async ({ storage, clock }) => {
    const held = await acquired(storage, leaseOf({ name: 'held', ttlMs: 20_000 }));
    const expired = await acquired(storage, leaseOf({ name: 'expired', ttlMs: 10_000 }));
    clock.advance(10_000);
    expect(await storage.purgeExpired(10)).toEqual({ sessions: 0, userStates: 0, appStates: 0 });
    expect(await storage.leases.acquire(leaseOf({ name: 'held' }))).toBeUndefined();
    expect(await storage.leases.renew(held, 1_000)).toMatchObject({ token: held.token });
    const next = await acquired(storage, leaseOf({ name: 'expired' }));
    expect(next.token).toBeGreaterThan(expired.token);
  });
});
