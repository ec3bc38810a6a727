import { InMemorySessionStorage } from '../../src/index.js';

describe('the in-memory agenda', () => {
  it('frees its memory when its entries are removed or the store is closed', async () => {
    const storage = new InMemorySessionStorage();
    const empty = storage.snapshot();
    await storage.agenda.put('job', 0);
    expect(storage.snapshot().text).toContain('"job"');
    for (const entry of await storage.agenda.due(1)) await storage.agenda.remove(entry);
    expect(storage.snapshot()).toEqual(empty);
    await storage.agenda.put('job', 0);
    await storage.close();
    expect(storage.snapshot()).toEqual(empty);
  });

  it('returns copies of its entries', async () => {
    const { agenda } = new InMemorySessionStorage();
    await agenda.put('job', 0);
    const [entry] = await agenda.due(1);
    Object.assign(entry ?? {}, { name: 'other', dueAt: 0 });
    expect(await agenda.due(1)).toEqual([{ name: 'job', dueAt: expect.any(Number) }]);
    expect((await agenda.due(1))[0]?.dueAt).toBeGreaterThan(0);
  });
});
