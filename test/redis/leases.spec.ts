import { SessionService } from '../../src/index.js';
import type { Lease, LeaseStore } from '../../src/storage.js';
import type { LeaseRequest } from '../../src/sessions/storage/coordination.js';
import { ManualClock } from '../../src/testing/index.js';
import { describeRedis } from '../support/redis-servers.js';

const REQUEST: LeaseRequest = { name: 'job', holder: 'one', ttlMs: 60_000 };
const DAY_MS = 86_400_000;

async function acquired(leases: LeaseStore, changes: Partial<LeaseRequest> = {}): Promise<Lease> {
  const lease = await leases.acquire({ ...REQUEST, ...changes });
  if (!lease) throw new Error('The lease is not free');
  return lease;
}

describeRedis('Leases of a $name store', ['redis', 'redis-cluster'], (bench) => {
  const expiries = async (): Promise<Record<string, number>> => {
    const found = await Promise.all(
      (await bench().keys()).map(async ([key, node]) => [key, Number(await node.call('PEXPIRETIME', key))] as const),
    );
    return Object.fromEntries(found.map(([key, expiry]) => [key.slice(bench().prefix.length), expiry]));
  };

  it('are removed by Redis a day after the last of them ended', async () => {
    const { leases } = bench().storage();
    const first = await acquired(leases, { name: 'a:b' });
    await acquired(leases, { name: 'c', ttlMs: 30_000 });
    const renewed = await leases.renew(first, 90_000);
    const end = (renewed?.expiresAt ?? 0) + DAY_MS;
    expect(await expiries()).toEqual({
      '{@entries}:entries': end,
      '{@entries}:expiring': end,
      '{@entries}:ranks:lease': end,
      '{@entries}:waiting:lease': end,
    });
  });

  it('stay an hour longer with an injected clock, but not forever', async () => {
    const { leases } = bench().storage({ clock: new ManualClock(0) });
    const before = Date.now();
    await leases.renew(await acquired(leases), 90_000);
    const { '{@entries}:entries': expiry = -1 } = await expiries();
    expect(expiry).toBeGreaterThan(before + DAY_MS + 3_600_000);
    expect(expiry).toBeLessThan(Date.now() + DAY_MS + 3_600_000 + 100_000);
  });

  it('have their own slot, even if apps have similar names', async () => {
    const storage = bench().storage();
    const sessions = new SessionService({ storage });
    const names = ['entries', '@entries', '{@entries}', 'a', 'b'];
    for (const name of names) {
      await acquired(storage.leases, { name });
      await sessions.createSession({ appName: name, userId: 'lease', state: { 'app:k': 1, 'user:k': 1 } });
    }
    const keys = (await bench().keys()).map(([key]) => key);
    const ofLeases = keys.filter((key) => key.startsWith(`${bench().prefix}{@entries}:`));
    expect(ofLeases).toHaveLength(4);
    const [[, node] = []] = await bench().keys();
    const slotOf = async (key: string): Promise<unknown> =>
      bench().name === 'redis' ? /\{([^}]+)\}/.exec(key)?.[1] : node?.call('CLUSTER', 'KEYSLOT', key);
    const slots = new Set(await Promise.all(ofLeases.map(slotOf)));
    expect(slots.size).toBe(1);
    const others = keys.filter((key) => !ofLeases.includes(key));
    expect(await Promise.all(others.map(slotOf))).not.toContain([...slots][0]);
  });

  it('are separate for each prefix', async () => {
    const { leases } = bench().storage();
    const other = bench().storage({ prefix: `${bench().prefix}other:` }).leases;
    const held = await acquired(leases);
    const otherHeld = await acquired(other);
    await other.release({ ...otherHeld, token: held.token });
    expect(await other.acquire(REQUEST)).toBeUndefined();
    await other.release(otherHeld);
    expect(await leases.renew(held, 60_000)).toMatchObject({ token: held.token });
  });

  it('are shared by all stores with the same prefix', async () => {
    const [one, two] = [bench().storage().leases, bench().storage().leases];
    const held = await acquired(one);
    expect(await two.acquire(REQUEST)).toBeUndefined();
    expect(await two.renew(held, 60_000)).toMatchObject({ token: held.token });
    await two.release(held);
    expect((await acquired(two)).token).toBeGreaterThan(held.token);
  });

  it('have growing tokens even after Redis has lost its data', async () => {
    const { leases } = bench().storage();
    const { token } = await acquired(leases);
    for (const [key, node] of await bench().keys()) await node.del(key);
    expect((await acquired(leases)).token).toBeGreaterThan(token);
  });

  it('have growing tokens even after the clock of the server went back', async () => {
    const storage = bench().storage();
    const last = (Date.now() + 10 * DAY_MS) * 1000;
    const text = JSON.stringify({ token: last, holder: 'one' });
    const next = { stamp: 1, rank: 0, since: 0, text, ttlMs: DAY_MS };
    await storage.entries.write([{ space: 'lease', name: 'job', expected: undefined, next }]);
    const held = await acquired(storage.leases);
    expect(held.token).toBe(last + 1);
    await storage.leases.release(held);
    expect((await acquired(storage.leases)).token).toBe(last + 2);
  });

  it('show their holder in Redis', async () => {
    const { leases } = bench().storage();
    const held = await acquired(leases, { holder: 'web-1:4711' });
    const [key, node] = (await bench().keys()).find(([name]) => name.endsWith('{@entries}:entries')) ?? [];
    const stored = await node?.hget(key ?? '', 'lease:job');
    expect(stored?.split('\n').at(-1)).toBe(JSON.stringify({ token: held.token, holder: 'web-1:4711' }));
  });
});
