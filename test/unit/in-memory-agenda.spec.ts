import { InMemorySessionStorage } from '../../src/index.js';

describe('an agenda in memory', () => {
  it('leaves nothing once all is taken off, or the store is closed', async () => {
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

  it('is nobody else’s to change through what was handed out', async () => {
    const { agenda } = new InMemorySessionStorage();
    await agenda.put('job', 0);
    const [entry] = await agenda.due(1);
    Object.assign(entry ?? {}, { name: 'other', dueAt: 0 });
    expect(await agenda.due(1)).toEqual([{ name: 'job', dueAt: expect.any(Number) }]);
    expect((await agenda.due(1))[0]?.dueAt).toBeGreaterThan(0);
  });
});
