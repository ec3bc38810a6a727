import { ManualClock } from '../../src/testing/index.js';
import { KEY, createTestCommit, creation } from '../../src/testing/storage-contract/support.js';
import { testStores } from '../support/stores.js';

describe.each(testStores)('Closing $name', ({ open }) => {
  it('does what was called before, or says that it is not done', async () => {
    const { storage, raw, destroy } = await open({ clock: new ManualClock() });
    try {
      await storage.create(creation());
      const appends = Array.from({ length: 8 }, (_, index) => endOf(storage.append(createTestCommit(`e${index}`))));
      const creating = endOf(storage.create(creation({ key: { ...KEY, sessionId: 'another' } })));
      await storage.close();
      expect(new Set(await Promise.all(appends))).toEqual(new Set(['done']));
      // A closed store in this process has forgotten all.
      const sessions = { done: [2], unknown: [1, 2], 'not done': [1] }[await creating];
      expect(storage.isInProcess ? [0] : sessions).toContain((await raw()).sessions);
      const late: unknown = await (async () => storage.append(createTestCommit('late')))().catch(
        (error: unknown) => error,
      );
      expect(late).toMatchObject({ outcomeUnknown: false, message: expect.stringContaining('use one that is open') });
    } finally {
      await destroy();
    }
  });
});

function endOf(call: Promise<unknown>): Promise<'done' | 'unknown' | 'not done'> {
  return call.then(
    () => 'done' as const,
    (error: { outcomeUnknown?: boolean }) => (error.outcomeUnknown ? 'unknown' : 'not done'),
  );
}
