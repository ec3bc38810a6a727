import { InMemorySessionStorage } from '../../src/index.js';
import { ManualClock } from '../../src/testing/index.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

describe('in-memory leases', () => {
  it('are removed by a purge a day after they end, when no token of theirs is needed, in batches', async () => {
    const clock = new ManualClock();
    const storage = new InMemorySessionStorage({ clock });
    const storedNames = (): string[] => [...storage.snapshot().text.matchAll(/job-\d/g)].map(([name]) => name);
    for (let number = 1; number <= 5; number++) {
      await storage.leases.acquire({ name: `job-${number}`, holder: 'one', ttlMs: number === 2 ? 20_000 : 10_000 });
    }
    clock.advance(DAY_MS + 9_999);
    await storage.purgeExpired(3);
    expect(storedNames()).toHaveLength(5);
    clock.advance(1);
    expect(await storage.purgeExpired(3)).toEqual({ sessions: 0, userStates: 0, appStates: 0 });
    expect(storedNames()).toEqual(['job-2', 'job-5']);
    await storage.purgeExpired(3);
    expect(storedNames()).toEqual(['job-2']);
  });

  it('free their memory a day after they are released, or when the store is closed', async () => {
    const clock = new ManualClock();
    const storage = new InMemorySessionStorage({ clock });
    const empty = storage.snapshot();
    const held = await storage.leases.acquire({ name: 'job-1', holder: 'one', ttlMs: 10_000 });
    if (held) await storage.leases.release(held);
    clock.advance(DAY_MS);
    await storage.purgeExpired(1);
    expect(storage.snapshot()).toEqual(empty);
    await storage.leases.acquire({ name: 'job-2', holder: 'one', ttlMs: 10_000 });
    await storage.close();
    expect(storage.snapshot()).toEqual(empty);
  });

  it('are returned as copies', async () => {
    const { leases } = new InMemorySessionStorage();
    const held = await leases.acquire({ name: 'job', holder: 'one', ttlMs: 10_000 });
    Object.assign(held ?? {}, { token: 0, expiresAt: 0 });
    expect(await leases.acquire({ name: 'job', holder: 'two', ttlMs: 10_000 })).toBeUndefined();
  });

  it('have higher tokens than those of an earlier store', async () => {
    const request = { name: 'job', holder: 'one', ttlMs: 10_000 };
    const before = await new InMemorySessionStorage().leases.acquire(request);
    const later = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 1_000);
    const after = await new InMemorySessionStorage().leases.acquire(request);
    later.mockRestore();
    expect(after?.token).toBeGreaterThan(before?.token ?? Infinity);
  });
});
