import { SessionService } from '../../src/index.js';
import type { Lease, LeaseRequest, LeaseStore } from '../../src/storage.js';
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

  it('are removed by Redis when they expire, and the last token a day later', async () => {
    const { leases } = bench().storage();
    const first = await acquired(leases, { name: 'a:b' });
    const second = await acquired(leases, { name: 'c', ttlMs: DAY_MS });
    const renewed = await leases.renew(first, 90_000);
    expect(await expiries()).toEqual({
      '{@leases}:lease:a%3Ab': renewed?.expiresAt,
      '{@leases}:lease:c': second.expiresAt,
      '{@leases}:last-token': Math.floor(second.token / 1000) + DAY_MS,
    });
    await leases.release(first);
    await leases.release(second);
    expect(Object.keys(await expiries())).toEqual(['{@leases}:last-token']);
  });

  it('stay an hour longer with an injected clock, but not forever', async () => {
    const { leases } = bench().storage({ clock: new ManualClock(0) });
    const before = Date.now();
    await leases.renew(await acquired(leases), 90_000);
    const { '{@leases}:lease:job': expiry = -1, '{@leases}:last-token': lastToken } = await expiries();
    expect(expiry).toBeGreaterThan(before + 3_600_000);
    expect(expiry).toBeLessThan(Date.now() + 3_600_000 + 100_000);
    expect(lastToken).toBeGreaterThan(before);
  });

  it('have their own slot, even if apps have similar names', async () => {
    const storage = bench().storage();
    const sessions = new SessionService({ storage });
    const names = ['leases', '@leases', '{@leases}', 'a', 'b'];
    for (const name of names) {
      await acquired(storage.leases, { name });
      await sessions.createSession({ appName: name, userId: 'lease', state: { 'app:k': 1, 'user:k': 1 } });
    }
    const keys = (await bench().keys()).map(([key]) => key);
    const ofLeases = keys.filter((key) => key.startsWith(`${bench().prefix}{@leases}:`));
    expect(ofLeases).toHaveLength(names.length + 1);
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
    const { leases } = bench().storage();
    await leases.release(await acquired(leases));
    const last = (Date.now() + 10 * DAY_MS) * 1000;
    for (const [key, node] of await bench().keys()) await node.set(key, String(last), 'KEEPTTL');
    const held = await acquired(leases);
    expect(held.token).toBe(last + 1);
    await leases.release(held);
    expect((await acquired(leases)).token).toBe(last + 2);
    expect(await expiries()).toMatchObject({ '{@leases}:last-token': last / 1000 + DAY_MS });
  });

  it('show their holder in Redis', async () => {
    const { leases } = bench().storage();
    const held = await acquired(leases, { holder: 'web-1:4711' });
    const keys = await bench().keys();
    const [key, node] = keys.find(([name]) => name.endsWith(':lease:job')) ?? [];
    expect(await node?.hgetall(key ?? '')).toEqual({
      holder: 'web-1:4711',
      token: String(held.token),
      expires: String(held.expiresAt),
    });
  });
});
