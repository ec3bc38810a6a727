import { ComponentSession } from '../../src/components/index.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { describeRedis } from '../support/redis-servers.js';

const HOUR_MS = 3_600_000;

describeRedis('The keys of component state in a $name store', ['redis', 'redis-cluster'], (bench) => {
  it('expire together, after their session', async () => {
    const store = bench().storage().components;
    const components = new ComponentSession({ store, ttlMs: HOUR_MS });
    for (const session of ['s', 't']) {
      await components.saveList(session, 'first', [1]);
      await components.save(session, 'value', 1);
      await components.saveList(session, 'second', [1]);
      await components.append(session, 'first', [2]);
      await components.saveList(session, 'first', [3]);
    }
    const expiries = async (): Promise<number[]> => {
      const keys = await bench().keys();
      return Promise.all(keys.map(async ([key, node]) => Number(await node.call('PEXPIRETIME', key))));
    };
    const before = await expiries();
    expect(before).toHaveLength(2 * 3 + 2 * 2);
    expect(before.filter((expiry) => expiry < Date.now() + HOUR_MS)).toEqual([]);
    // Beyond what the keys were given in reserve.
    const longer = new ComponentSession({ store, ttlMs: 2 * HOUR_MS });
    await longer.save('s', 'value', 2);
    await longer.save('t', 'value', 2);
    expect((await expiries()).filter((expiry) => expiry < Date.now() + 2 * HOUR_MS)).toEqual([]);
    await components.delete('s');
    await components.delete('t', 'first');
    await components.delete('t', 'second');
    await components.delete('t', 'value');
    expect(await bench().keys()).toEqual([]);
  });

  it('are all removed by a purge, also if Redis removed some before', async () => {
    const clock = new ManualClock();
    const store = bench().storage({ clock }).components;
    const components = new ComponentSession({ store, ttlMs: HOUR_MS });
    for (const session of ['s', 't']) {
      await components.saveList(session, 'list', [1]);
      await components.save(session, 'value', 1);
    }
    for (const [key, node] of await bench().keys()) if (/:(component|items):t/.test(key)) await node.unlink(key);
    clock.advance(HOUR_MS);
    expect(await components.purgeExpired()).toBe(2);
    expect(await bench().keys()).toEqual([]);
  });

  it.each([/:component:s$/, /:items:s:list$/, /:sessions$/, /:expiring$/])(
    'are checked before a write: nothing is written if %s is not of the store',
    async (name) => {
      const store = bench().storage().components;
      const components = new ComponentSession({ store, ttlMs: HOUR_MS });
      await components.saveList('s', 'list', [1]);
      const [key, node] = (await bench().keys()).find(([each]) => name.test(each)) ?? [];
      if (key === undefined || !node) throw new Error('There is no such key');
      const kept = await node.dumpBuffer(key);
      await node.del(key);
      await node.set(key, 'foreign');
      const writes = [
        () => components.append('s', 'list', [2]),
        () => components.save('s', 'value', 1),
        () => components.delete('s', 'list'),
      ];
      // A value has no items.
      for (const write of name.source.includes('items') ? writes.slice(0, 1) : writes) {
        await expect(write()).rejects.toMatchObject({
          code: 'STORE_UNAVAILABLE',
          outcomeUnknown: false,
          message: expect.stringContaining('{@components}:') as string,
        });
      }
      await node.restore(key, 0, kept, 'REPLACE');
      expect(await components.getListVersioned('s', 'list')).toEqual({ value: [1], version: 1 });
      expect(await components.listNames('s')).toEqual(['list']);
    },
  );
});
