import { ComponentSession } from '../../src/components/index.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { redisProblems } from '../support/processes/redis-integrity.js';
import { type RedisBench, describeRedis } from '../support/redis-servers.js';

const HOUR_MS = 3_600_000;
/** Too long for one entry. */
const LONG = Array.from({ length: 50 }, (_, index) => `${index} ${'ä'.repeat(500)}`);

/** The kinds of keys that there are, without those that scripts make besides. */
async function kindsOf(bench: RedisBench): Promise<string[]> {
  const keys = await bench.keys();
  return [...new Set(keys.map(([key]) => key.replace(/^.*\{@entries(-\d+)?\}:/, '')))].toSorted();
}

describeRedis('The keys of component state in a $name store', ['redis', 'redis-cluster'], (bench) => {
  it('are those of entries, and none is left when all is deleted', async () => {
    const store = bench().storage().components;
    const components = new ComponentSession({ store, ttlMs: HOUR_MS });
    for (const session of ['s', 't']) {
      await components.saveList(session, 'first', LONG);
      await components.save(session, 'value', 'x'.repeat(20_000));
      await components.saveList(session, 'second', [1]);
      await components.append(session, 'first', LONG);
      await components.saveList(session, 'first', [3]);
    }
    expect((await kindsOf(bench())).map((kind) => kind.split(':')[0])).toEqual(
      expect.arrayContaining(['entries', 'expiring', 'ranks', 'waiting']),
    );
    const nodes = [...new Set((await bench().keys()).map(([, node]) => node))];
    const { name, prefix } = bench();
    expect(await redisProblems(nodes, { kind: name === 'redis' ? 'redis' : 'redis-cluster', prefix })).toEqual([]);
    await components.delete('s');
    await components.delete('t', 'first');
    await components.delete('t', 'second');
    await components.delete('t', 'value');
    expect(await bench().keys()).toEqual([]);
  });

  it('are all removed by a purge', async () => {
    const clock = new ManualClock();
    const store = bench().storage({ clock }).components;
    const components = new ComponentSession({ store, ttlMs: HOUR_MS });
    for (const session of ['s', 't']) {
      await components.saveList(session, 'list', LONG);
      await components.save(session, 'value', 1);
    }
    clock.advance(HOUR_MS);
    expect(await components.purgeExpired()).toBe(2);
    expect(await bench().keys()).toEqual([]);
  });

  it.each([/:entries$/, /:expiring$/, /:ranks:.*-sessions$/, /:ranks:[^-]*$/])(
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
      // The parts of a session go after it.
      for (const write of name.source.endsWith('*$') ? writes.slice(0, 2) : writes) {
        await expect(write()).rejects.toMatchObject({
          code: 'STORE_UNAVAILABLE',
          outcomeUnknown: false,
          message: expect.stringContaining('{@entries}:') as string,
        });
      }
      await node.restore(key, 0, kept, 'REPLACE');
      expect(await components.getListVersioned('s', 'list')).toEqual({ value: [1], version: 1 });
      expect(await components.listNames('s')).toEqual(['list']);
    },
  );
});
