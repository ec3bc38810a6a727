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

  test('of several leases, the first free one is taken, until all are held', async ({ storage, clock }) => {
    const { leases: store } = storage;
    if (!store.acquireAny) return;
    const request = { names: ['job 1', 'job 2', 'job 3'], holder: 'somebody', ttlMs: 10_000 };
    const held = await acquired(storage, leaseOf({ name: 'job 2', ttlMs: 5_000 }));
    const first = await store.acquireAny(request);
    const second = await store.acquireAny(request);
    expect(first).toEqual({ ...held, name: 'job 1', token: first?.token, expiresAt: clock.now() + 10_000 });
    expect(second).toMatchObject({ name: 'job 3', token: expect.any(Number) });
    expect(await store.acquireAny(request)).toBeUndefined();
    clock.advance(5_000);
    const third = await store.acquireAny(request);
    expect(third?.name).toBe('job 2');
    expect(third?.token).toBeGreaterThan(Math.max(held.token, first?.token ?? 0, second?.token ?? 0));
    if (second) await store.release(second);
    expect(await store.acquireAny(request)).toMatchObject({ name: 'job 3' });
  });

  test('of several leases, only so many are held as a request says', async ({ storage }) => {
    const { leases: store } = storage;
    if (!store.acquireAny) return;
    const request = { names: ['job 1', 'job 2', 'job 3'], holder: 'somebody', ttlMs: 10_000 };
    const last = await acquired(storage, leaseOf({ name: 'job 3' }));
    expect(await store.acquireAny({ ...request, atMost: 1 })).toBeUndefined();
    expect(await store.acquireAny({ ...request, atMost: 2 })).toMatchObject({ name: 'job 1' });
    expect(await store.acquireAny({ ...request, atMost: 2 })).toBeUndefined();
    await store.release(last);
    expect(await store.acquireAny({ ...request, atMost: 2 })).toMatchObject({ name: 'job 2' });
    const names = Array.from({ length: 20 }, (_, place) => `work ${place}`);
    const answers = await together(20, async (index) =>
      store.acquireAny?.({ names, atMost: 3, holder: `holder ${index}`, ttlMs: 10_000 }),
    );
    expect(answers.flatMap((lease) => lease?.name ?? []).toSorted()).toEqual(['work 0', 'work 1', 'work 2']);
  });

  test('of 30 concurrent requests for 4 leases, 4 get one each', async ({ storage }) => {
    const { leases: store } = storage;
    const names = Array.from({ length: 4 }, (_, place) => `job ${place}`);
    const answers = await together(30, async (index) =>
      store.acquireAny?.({ names, holder: `holder ${index}`, ttlMs: 10_000 }),
    );
    const got = answers.flatMap((lease) => lease?.name ?? []);
    if (store.acquireAny) expect(got.toSorted()).toEqual(names);
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
