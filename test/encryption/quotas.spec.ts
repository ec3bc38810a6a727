import { SessionService } from '../../src/index.js';
import { ManualClock } from '../../src/testing/index.js';
import { storesAboveThePort } from '../support/stores.js';
import { openEncrypted } from './support.js';

const ANN = { appName: 'shop', userId: 'ann' };
const LIMIT = 10_000;

it.each(storesAboveThePort)('a quota of stored bytes counts encrypted texts as they are on $name', async ({ open }) => {
  const clock = new ManualClock(Date.UTC(2026, 10, 23, 12));
  const { storage, plain, destroy } = await openEncrypted(open, { clock });
  const sessions = new SessionService({ storage, clock, quotas: { user: { storedBytes: LIMIT } } });
  const say = async (id: string) =>
    sessions.appendEvent({
      session: { ...ANN, id },
      event: { author: 'user', customMetadata: { a: 'x'.repeat(4_000) } },
    });
  const use = async () => (await sessions.getUsage(ANN)).quotas?.[0]?.used;
  for (const sessionId of ['a', 'b']) await sessions.createSession({ ...ANN, sessionId });
  for (const id of ['a', 'b']) await say(id);
  await expect(say('b')).rejects.toMatchObject({ quota: { quota: 'storedBytes', limit: LIMIT } });
  clock.advanceSeconds(10);
  let bytes = 0;
  for (const sessionId of ['a', 'b']) {
    const read = await plain.read({ key: { ...ANN, sessionId }, window: {}, withBase: true });
    for (const text of [read?.baseState, ...(read?.events ?? []).map(({ payload }) => payload)]) {
      bytes += Buffer.byteLength(text ?? '');
    }
  }
  expect(await use()).toBe(bytes);
  expect(bytes).toBeGreaterThan(2 * 4_000 * (4 / 3));
  await sessions.deleteSession({ ...ANN, sessionId: 'a' });
  clock.advanceSeconds(10);
  await say('b');
  await sessions.finish();
  await destroy();
});
