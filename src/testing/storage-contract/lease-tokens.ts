import type { Lease } from '../../sessions/storage/coordination.js';
import { topic } from '../contract-runner.js';
import { type StorageFixture, acquired, leaseOf, together } from './support.js';

export const leaseTokens = topic<StorageFixture>('tokens of leases', (test) => {
  test('tokens grow with every acquisition', async ({ storage, clock }) => {
    const tokens: number[] = [];
    const next = async (): Promise<Lease> => {
      const lease = await acquired(storage, leaseOf({ ttlMs: 1_000 }));
      tokens.push(lease.token);
      return lease;
    };
    await storage.leases.release(await next());
    await storage.leases.renew(await next(), 2_000);
    clock.advance(2_000);
    await next();
    clock.advance(1_000);
    await storage.purgeExpired(10);
    await storage.leases.release(await next());
    await storage.purgeExpired(10);
    await next();
    expectGrowth(tokens, 5);
  });

  test('tokens grow even if the clock stops or goes back', async ({ storage, clock }) => {
    const tokens: number[] = [];
    for (let round = 0; round < 20; round++) {
      const lease = await acquired(storage, leaseOf());
      tokens.push(lease.token);
      await storage.leases.release(lease);
      if (round >= 10) clock.advanceSeconds(-3_600);
    }
    expectGrowth(tokens, 20);
  });

  test('successive holders never get the same token', async ({ storage }) => {
    const tokens = new Set<number>();
    let acquisitions = 0;
    await together(10, async (index) => {
      for (let round = 0; round < 10; round++) {
        const lease = await storage.leases.acquire(leaseOf({ holder: `holder ${index}` }));
        if (!lease) continue;
        acquisitions++;
        tokens.add(lease.token);
        await storage.leases.release(lease);
      }
    });
    expect(acquisitions).toBeGreaterThan(0);
    expect(tokens.size).toBe(acquisitions);
  });
});

function expectGrowth(tokens: readonly number[], count: number): void {
  expect(tokens).toHaveLength(count);
  expect(tokens.every((token) => Number.isSafeInteger(token) && token > 0)).toBe(true);
  expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b));
}
