import { SessionService } from '../../src/index.js';
import { describeRedis } from '../support/redis-servers.js';

const DAY_MS = 86_400_000;

describeRedis('The agenda of a $name store', ['redis', 'redis-cluster'], (bench) => {
  it('is one key that expires 800 days after the last entry was added', async () => {
    const { agenda } = bench().storage();
    const before = Date.now();
    await agenda.put('first', 0);
    await agenda.put('second', 400 * DAY_MS);
    const [[key, node] = [], ...others] = await bench().keys();
    expect([key, others]).toEqual([`${bench().prefix}{@agenda}:due`, []]);
    const expiry = async (): Promise<number> => Number(await node?.call('PEXPIRETIME', key ?? ''));
    const first = await expiry();
    expect(first).toBeGreaterThanOrEqual(before + 800 * DAY_MS);
    expect(first).toBeLessThanOrEqual(Date.now() + 800 * DAY_MS);
    await node?.pexpire(key ?? '', DAY_MS);
    await agenda.put('second', 0);
    expect(await expiry()).toBeGreaterThanOrEqual(first);
  });

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

  it('shares its slot with no app, even with similar names', async () => {
    const storage = bench().storage();
    const sessions = new SessionService({ storage });
    await storage.agenda.put('job', 0);
    for (const appName of ['agenda', '@agenda', '{@agenda}']) {
      await sessions.createSession({ appName, userId: 'ann', state: { 'app:k': 1, 'user:k': 1 } });
    }
    const keys = (await bench().keys()).map(([key]) => key);
    expect(keys.filter((key) => key.startsWith(`${bench().prefix}{@agenda}`))).toHaveLength(1);
  });

  it('is separate for each prefix, and shared by all stores with the same prefix', async () => {
    const [one, two] = [bench().storage().agenda, bench().storage().agenda];
    const other = bench().storage({ prefix: `${bench().prefix}other:` }).agenda;
    await one.put('job', 0);
    expect(await two.due(10)).toHaveLength(1);
    expect(await other.due(10)).toEqual([]);
  });
});
