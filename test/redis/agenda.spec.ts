import { describeRedis } from '../support/redis-servers.js';

describeRedis('The agenda of a $name store', ['redis', 'redis-cluster'], (bench) => {
  it('leaves no key after its last entry was removed', async () => {
    const { agenda } = bench().storage();
    for (const name of ['a', 'b']) await agenda.put(name, 0);
    for (const entry of await agenda.due(10)) await agenda.remove(entry);
    expect(await bench().keys()).toEqual([]);
  });

  it('uses the clock of the server', async () => {
    const { agenda } = bench().storage();
    const before = Date.now();
    await agenda.put('job', 0);
    const [entry] = await agenda.due(1);
    expect(entry?.dueAt).toBeGreaterThanOrEqual(before);
    expect(entry?.dueAt).toBeLessThanOrEqual(Date.now());
  });

  it('is separate for each prefix, and shared by all stores with the same prefix', async () => {
    const [one, two] = [bench().storage().agenda, bench().storage().agenda];
    const other = bench().storage({ prefix: `${bench().prefix}other:` }).agenda;
    await one.put('job', 0);
    expect(await two.due(10)).toHaveLength(1);
    expect(await other.due(10)).toEqual([]);
  });
});
