import { topic } from '../contract-runner.js';
import { type StorageFixture, acquired, leaseOf, together } from './support.js';

export const leaseHolders = topic<StorageFixture>('holders of leases', (test) => {
  test('a renewed lease has a new lifetime and the same token', async ({ storage, clock }) => {
    const held = await acquired(storage, leaseOf({ ttlMs: 10_000 }));
    clock.advance(9_999);
    const renewed = await storage.leases.renew(held, 20_000);
    expect(renewed).toEqual({ ...held, expiresAt: clock.now() + 20_000 });
    clock.advance(19_999);
    expect(await storage.leases.acquire(leaseOf())).toBeUndefined();
    clock.advance(1);
    expect(await storage.leases.acquire(leaseOf())).toBeDefined();
  });

  test('a renewal may shorten a lease', async ({ storage, clock }) => {
    const held = await acquired(storage, leaseOf({ ttlMs: 10_000 }));
    expect(await storage.leases.renew(held, 1_000)).toMatchObject({ expiresAt: clock.now() + 1_000 });
    clock.advance(1_000);
    expect(await storage.leases.acquire(leaseOf())).toBeDefined();
  });

  test('a lease is renewed with the object of its acquisition any number of times', async (fixture) => {
    const { storage, clock } = fixture;
    const held = await acquired(storage, leaseOf({ ttlMs: 10_000 }));
    for (let round = 0; round < 5; round++) {
      clock.advance(9_000);
      expect(await storage.leases.renew(held, 10_000)).toMatchObject({ expiresAt: clock.now() + 10_000 });
    }
  });

  test('an expired lease is not renewed, even if it was not taken since', async ({ storage, clock }) => {
    const held = await acquired(storage, leaseOf({ ttlMs: 10_000 }));
    clock.advance(10_000);
    expect(await storage.leases.renew(held, 10_000)).toBeUndefined();
    expect(await storage.leases.acquire(leaseOf())).toBeDefined();
  });

  test('a released lease is not renewed, and can be released again', async ({ storage }) => {
    const held = await acquired(storage, leaseOf());
    await storage.leases.release(held);
    expect(await storage.leases.renew(held, 10_000)).toBeUndefined();
    await storage.leases.release(held);
    expect(await storage.leases.acquire(leaseOf())).toBeDefined();
  });

  test('an unknown lease is neither renewed nor released', async ({ storage, clock }) => {
    const never = { name: 'never', holder: 'nobody', token: 1, expiresAt: clock.now() + 10_000 };
    expect(await storage.leases.renew(never, 10_000)).toBeUndefined();
    await storage.leases.release(never);
    expect(await storage.leases.acquire(leaseOf({ name: 'never' }))).toBeDefined();
  });

  test('a former holder neither renews nor releases the lease of the next one', async ({ storage, clock }) => {
    const late = await acquired(storage, leaseOf({ holder: 'one', ttlMs: 10_000 }));
    clock.advance(10_000);
    const next = await acquired(storage, leaseOf({ holder: 'one', ttlMs: 10_000 }));
    expect(await storage.leases.renew(late, 60_000)).toBeUndefined();
    await storage.leases.release(late);
    expect(await storage.leases.acquire(leaseOf())).toBeUndefined();
    clock.advance(9_999);
    expect(await storage.leases.renew(next, 10_000)).toMatchObject({ token: next.token });
  });

  test('concurrent renewals do not restore a released lease', async ({ storage }) => {
    const held = await acquired(storage, leaseOf());
    await together(20, async (index) =>
      index === 10 ? storage.leases.release(held) : storage.leases.renew(held, 10_000),
    );
    expect(await storage.leases.renew(held, 10_000)).toBeUndefined();
    expect(await storage.leases.acquire(leaseOf())).toBeDefined();
  });
});
